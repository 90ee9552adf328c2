//! Networks that a customer deleted: removed from their cloud once no instance
//! is left in them, and then forgotten.
//!
//! A network that goes with its instance is removed in that instance's last
//! step; this finds the others. No instance can join a deleted network, so what
//! is removable stays so, and removing it twice does no harm.

use crate::Engine;
use cloud::Outcome;
use model::Vpc;
use store::vpcs;

impl Engine {
    /// Whether it is gone.
    pub(super) async fn remove_network(&self, vpc: &Vpc) -> bool {
        let Some(cloud) = self.clouds.serving(&vpc.region) else {
            tracing::warn!(vpc = %vpc.id, region = %vpc.region, "no cloud serves the region");
            return false;
        };
        match cloud.remove_network(vpc.id).await {
            Outcome::Ready(()) => {}
            Outcome::Pending { .. } => return false,
            Outcome::Failed { reason, .. } => {
                tracing::warn!(vpc = %vpc.id, reason, "a network could not be removed");
                return false;
            }
        }
        let forgotten = async {
            let mut work = self.store.begin().await?;
            vpcs::remove_deleted(&mut work, vpc.id).await?;
            work.commit().await
        };
        match forgotten.await {
            Ok(()) => {
                tracing::info!(vpc = %vpc.id, "network is gone");
                true
            }
            Err(error) => {
                tracing::warn!(%error, vpc = %vpc.id, "a network is not forgotten yet");
                false
            }
        }
    }
}
