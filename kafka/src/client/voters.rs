//! Who is part of a cluster: controllers that vote, and brokers that are registered. Who votes
//! now, and how far everyone is, [`Admin::describe_quorum`](super::Admin::describe_quorum) tells.
//!
//! Voters change one at a time, and only the leader of the quorum changes them. The call is sent
//! to the broker beside it, which knows it first.

use super::admin::quorum::DescribeQuorum;
use super::admin::raft_voters::{AddVoter, RemoveVoter};
use super::admin::unregister::Unregister;
use super::{Call, Cluster, Endpoint, Error, ProtocolAdmin, Quorum};
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

/// How often the leader of the quorum is looked for, while it moves.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(200);

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

#[async_trait]
impl Voters for ProtocolAdmin {
    async fn add_voter(&self, cluster: &Cluster, voter: &NewVoter) -> Result<bool, Error> {
        let is_one = |quorum: &Quorum| quorum.votes(voter.id, voter.directory);
        self.change_voters(cluster, is_one, &AddVoter { voter }).await
    }

    async fn remove_voter(
        &self,
        cluster: &Cluster,
        id: i32,
        directory: Uuid,
    ) -> Result<bool, Error> {
        let is_none = |quorum: &Quorum| !quorum.votes(id, directory);
        self.change_voters(cluster, is_none, &RemoveVoter { id, directory }).await
    }

    async fn unregister_broker(&self, cluster: &Cluster, broker: i32) -> Result<bool, Error> {
        self.ask(cluster, &Unregister { broker }).await
    }
}

impl ProtocolAdmin {
    /// Asks the leader of the quorum, wherever it goes meanwhile. False if nothing is to be done.
    async fn change_voters<C: Call<Answer = ()>>(
        &self,
        cluster: &Cluster,
        is_done: impl Fn(&Quorum) -> bool + Send,
        change: &C,
    ) -> Result<bool, Error> {
        let mut attempt = 1;
        loop {
            let quorum = self.ask(cluster, &DescribeQuorum).await?;
            if is_done(&quorum) {
                return Ok(false);
            }
            let near = cluster.nearest(quorum.leader);
            match self.ask(&near, change).await {
                Err(error) if attempt < ATTEMPTS && has_moved(&error) => sleep(PAUSE).await,
                changed => return changed.map(|()| true),
            }
            attempt += 1;
        }
    }
}

/// Whether it was not the leader that was asked. Nothing was done then.
fn has_moved(error: &Error) -> bool {
    use ResponseError::{NotController, NotLeaderOrFollower};
    match error {
        Error::Kafka { code, .. } => matches!(code, NotLeaderOrFollower | NotController),
        Error::AllFailed { last, .. } => has_moved(last),
        _ => false,
    }
}

/// Kafka's text for a directory's id, as `directory_id` of a disk's row has it.
pub fn parse_directory(text: &str) -> Option<Uuid> {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    Uuid::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}
