//! The firewall rules of one server: given to its cloud, and noted once they are in effect.
//!
//! The cloud comes first and the note after it. A crash in between repeats both. Of two
//! workers that write at once one may leave older rules; whoever looks next puts that right.

use crate::Engine;
use cloud::{Enforcement, Outcome};
use store::{FirewallTurn, firewalls};

impl Engine {
    /// Whether the server has the rules as they are now.
    pub(super) async fn apply_firewall(&self, turn: &FirewallTurn) -> bool {
        let server = turn.server_id;
        let Some(cloud) = self.clouds.serving(&turn.region) else {
            tracing::warn!(%server, region = %turn.region, "no cloud serves the region");
            return false;
        };
        let intent = match firewalls::find(&mut self.store.reader(), turn.instance_id).await {
            Ok(intent) => intent,
            Err(error) => {
                tracing::warn!(%server, %error, "the rules of a server can't be read");
                return false;
            }
        };
        let openings = intent.firewall.openings(turn.subnet, &[]);
        let enforced = match cloud.apply_firewall(server, &openings).await {
            Outcome::Ready(enforcement) => enforcement == Enforcement::Enforced,
            Outcome::Pending { reason, .. } => {
                tracing::debug!(%server, reason, "the rules of a server are not in effect yet");
                return false;
            }
            Outcome::Failed { reason, .. } => {
                tracing::warn!(%server, reason, "the rules of a server could not be applied");
                return false;
            }
        };
        if (intent.revision, enforced) == (turn.applied, turn.enforced) {
            return true;
        }
        let noted = async {
            let mut work = self.store.begin().await?;
            firewalls::set_applied(&mut work, server, intent.revision, enforced).await?;
            work.commit().await
        };
        match noted.await {
            Ok(()) => {
                tracing::info!(%server, revision = intent.revision, enforced, "rules are applied");
                true
            }
            Err(error) => {
                tracing::warn!(%server, %error, "that rules are applied could not be noted");
                false
            }
        }
    }
}
