//! Who is part of a cluster: controllers that vote, and brokers that are registered. Who votes
//! now, and how far everyone is, [`Admin::describe_quorum`](super::Admin::describe_quorum) tells.
//!
//! Voters change one at a time, and only the leader of the quorum changes them. The call is sent
//! to the broker beside it, which knows it first.

use super::{Cluster, Endpoint, Error};
use async_trait::async_trait;
use uuid::Uuid;

/// A controller that is to vote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewVoter {
    pub id: i32,
    /// Of its log directory. As one of the observers it tells it.
    pub directory: Uuid,
    /// Where the other controllers reach it.
    pub controller: Endpoint,
}

#[async_trait]
pub trait Voters: Send + Sync {
    /// Makes an observer a voter. False if it was one. [`Remedy::Retry`](super::Remedy) while
    /// another change is under way, while it lags or can't be reached, and while the quorum has
    /// no leader; a refusal changes nothing.
    async fn add_voter(&self, cluster: &Cluster, voter: &NewVoter) -> Result<bool, Error>;

    /// The controller goes on as an observer. False if it was no voter. Kafka refuses it for the
    /// last one.
    async fn remove_voter(
        &self,
        cluster: &Cluster,
        id: i32,
        directory: Uuid,
    ) -> Result<bool, Error>;

    /// Forgets a broker. False if it was not registered. **Kafka does it for one that runs or
    /// holds replicas, too, and the data that only it has is lost**: ask for it only when the
    /// broker is stopped and [`PlacementView::on`](super::PlacementView::on) names nothing.
    async fn unregister_broker(&self, cluster: &Cluster, broker: i32) -> Result<bool, Error>;
}

/// Kafka's text for a directory's id, as `directory_id` of a disk's row has it.
pub fn parse_directory(text: &str) -> Option<Uuid> {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    Uuid::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}
