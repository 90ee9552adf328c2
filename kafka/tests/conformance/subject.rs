//! A cluster of three servers, each broker and controller, and a fourth that may join them;
//! real or simulated.

use async_trait::async_trait;
use kafka::Endpoint;
use kafka::client::{Admin, Broker, Cluster, Error, Login, Mechanism, TopicReplication};
use model::{Secret, Timestamp};
use std::time::Duration;

pub const NODES: [i32; 3] = [1, 2, 3];
/// Formatted without voters, and not started at first.
pub const NEWCOMER: i32 = 4;
pub const ALL: [i32; 4] = [1, 2, 3, NEWCOMER];

#[async_trait]
pub trait Subject: Send + Sync {
    fn admin(&self) -> &dyn Admin;
    /// Through the three founders.
    fn cluster(&self) -> Cluster;
    fn internal(&self, node: i32) -> Endpoint;
    fn sasl(&self, node: i32) -> Endpoint;
    fn controller(&self, node: i32) -> Endpoint;
    /// Whether the release has eligible leader replicas.
    fn has_elr(&self) -> bool;
    /// Whether it has `cordoned.log.dirs`.
    fn has_cordon(&self) -> bool;
    /// Returns at once.
    async fn start(&self, node: i32);
    /// Asks it to end, and returns when it has.
    async fn stop(&self, node: i32);
    async fn kill(&self, node: i32);
    /// A write with acks=all, at this broker.
    async fn write(&self, node: i32, topic: &str, partition: i32) -> Result<(), Error>;
    /// So many bytes are written to a partition that this broker leads.
    async fn fill(&self, node: i32, topic: &str, partition: i32, bytes: usize);
    /// A consumer joins and gets partitions 0 and 1.
    async fn join_group(&self, group: &str, topic: &str);
    /// It leaves.
    async fn leave_group(&self, group: &str);
    /// A consumer joins by the newer protocol and gets every partition. False if
    /// this release has no such protocol.
    async fn join_newer_group(&self, group: &str, topic: &str) -> bool;
    /// It leaves.
    async fn leave_newer_group(&self, group: &str);
    /// What the servers wrote last, for a check that fails.
    fn last_words(&self) -> String;
    /// A number that changes while servers do something.
    fn activity(&self) -> u64;
    /// Fails if a server that was not asked to has ended.
    fn assert_none_ended(&self);
    fn now(&self) -> Timestamp;
    /// Some time passes.
    async fn pause(&self);
}

/// What every check begins from.
impl dyn Subject + '_ {
    pub fn through(&self, node: i32) -> Cluster {
        self.cluster().through(&Broker::new(node, self.internal(node)))
    }

    /// Through the newcomer too.
    pub fn grown(&self) -> Cluster {
        let mut cluster = self.cluster();
        cluster.brokers.push(Broker::new(NEWCOMER, self.internal(NEWCOMER)));
        cluster
    }

    pub fn login(&self, node: i32, user: &str, password: &Secret, mechanism: Mechanism) -> Login {
        Login {
            instance: self.cluster().instance,
            brokers: vec![Broker::new(node, self.sasl(node))],
            trust_pem: self.cluster().trust_pem,
            username: user.to_owned(),
            password: password.clone(),
            mechanism,
        }
    }

    /// Waits until it holds, or fails with what was seen last. A busy machine is given more
    /// time for as long as anything goes on.
    pub async fn until<F, T>(&self, what: &str, within: Duration, holds: F) -> T
    where
        F: AsyncFn() -> Result<T, String>,
    {
        let began = self.now();
        let mut moved = began;
        let mut seen = (String::new(), 0);
        loop {
            let last = match holds().await {
                Ok(answer) => return answer,
                Err(last) => last,
            };
            self.assert_none_ended();
            let now = self.now();
            let present = (last, self.activity());
            if present != seen {
                (seen, moved) = (present, now);
            }
            let still = now.duration_since(moved).unsigned_abs();
            let waited = now.duration_since(began).unsigned_abs();
            let words = || self.last_words();
            assert!(
                still < within && waited < LONGEST,
                "waited {waited:?} until {what}, nothing went on for {still:?}; last: {}{}",
                seen.0,
                words()
            );
            self.pause().await;
        }
    }

    /// A topic as one broker has it.
    pub async fn topic(&self, node: i32, name: &str) -> Result<TopicReplication, String> {
        let all = self.admin().describe_replication(&self.through(node)).await;
        let all = all.map_err(|error| error.to_string())?;
        all.into_iter().find(|topic| topic.name == name).ok_or(format!("there is no {name}"))
    }

    /// Waits until the topic is like that for every one of the brokers.
    pub async fn until_topic(
        &self,
        name: &str,
        seen_by: &[i32],
        what: &str,
        holds: impl Fn(&TopicReplication) -> bool,
    ) -> TopicReplication {
        let mut last = None;
        for node in seen_by {
            let seen = self.until(what, SOON, async || {
                let topic = self.topic(*node, name).await?;
                if holds(&topic) { Ok(topic) } else { Err(format!("{node} sees {topic:?}")) }
            });
            last = Some(seen.await);
        }
        last.expect("somebody is asked")
    }
}

/// Longer than anything stands still, also on a machine that is busy.
pub const SOON: Duration = Duration::from_mins(3);
/// Longer than anything takes, however it goes on.
const LONGEST: Duration = Duration::from_mins(6);

pub fn others(node: i32) -> Vec<i32> {
    NODES.into_iter().filter(|other| *other != node).collect()
}

/// What a call says once it does not fail.
pub async fn settled<T>(
    subject: &dyn Subject,
    what: &str,
    ask: impl AsyncFn() -> Result<T, Error>,
) -> T {
    subject.until(what, SOON, async || ask().await.map_err(|error| error.to_string())).await
}
