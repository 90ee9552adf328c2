//! Calls of `/api/instances/<ID>/actions`.

use crate::{Client, Result};
use reqwest::Method;
use wire::actions::{Accepted, Action, ActionDetails, Nodes};
use wire::customer::Message;

impl Client {
    /// What was asked of an instance, newest first.
    pub async fn actions(&self, id: i64) -> Result<Vec<Action>> {
        self.call.get(&format!("api/instances/{id}/actions")).await
    }

    pub async fn action(&self, id: i64, action: i64) -> Result<ActionDetails> {
        self.call.get(&format!("api/instances/{id}/actions/{action}")).await
    }

    /// Has no more of an action begun, or what has begun undone.
    pub async fn cancel_action(&self, id: i64, action: i64) -> Result<Message> {
        self.call.post(&format!("api/instances/{id}/actions/{action}/cancel")).await
    }

    /// Restarts every server, one at a time.
    pub async fn restart_cluster(&self, id: i64) -> Result<Accepted> {
        self.act(id, "cluster-restart", Nodes::default()).await
    }

    /// Stops every server; data and addresses stay.
    pub async fn stop_cluster(&self, id: i64) -> Result<Accepted> {
        self.act(id, "cluster-stop", Nodes::default()).await
    }

    pub async fn start_cluster(&self, id: i64) -> Result<Accepted> {
        self.act(id, "cluster-start", Nodes::default()).await
    }

    /// Spreads replicas and leaders evenly over the servers.
    pub async fn rebalance(&self, id: i64) -> Result<Accepted> {
        self.call.post(&format!("api/instances/{id}/actions/rebalance")).await
    }

    /// What a rebalance would do; nothing is done.
    pub async fn plan_rebalance(&self, id: i64) -> Result<Accepted> {
        self.call.post(&format!("api/instances/{id}/actions/rebalance?dry_run=true")).await
    }

    /// Restarts the brokers of these servers, one at a time.
    pub async fn restart_servers(&self, id: i64, names: &[String]) -> Result<Accepted> {
        self.act(id, "restart", named(names)).await
    }

    /// Stops the brokers of these servers until they are started again.
    pub async fn stop_servers(&self, id: i64, names: &[String]) -> Result<Accepted> {
        self.act(id, "stop", named(names)).await
    }

    pub async fn start_servers(&self, id: i64, names: &[String]) -> Result<Accepted> {
        self.act(id, "start", named(names)).await
    }

    async fn act(&self, id: i64, action: &str, nodes: Nodes) -> Result<Accepted> {
        let path = format!("api/instances/{id}/actions/{action}");
        self.call.send(Method::POST, &path, &nodes).await
    }
}

fn named(names: &[String]) -> Nodes {
    Nodes { nodes: Some(names.to_vec()) }
}
