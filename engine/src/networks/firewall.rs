//! The firewall rules of one server: given to its cloud, and noted once they are in effect.
//!
//! The cloud comes first and the note after it. A crash in between repeats both. Of two
//! workers that write at once one may leave older rules; whoever looks next puts that right.

use crate::Engine;
use cloud::{Enforcement, Outcome};
use store::firewalls::{self, Applied};
use store::{FirewallTurn, instances};

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
        match self.note_applied(turn, intent.revision, enforced).await {
            Ok(true) => {
                tracing::info!(%server, revision = intent.revision, enforced, "rules are applied");
                true
            }
            Ok(false) => {
                tracing::debug!(%server, "the server was made anew while it was given rules");
                false
            }
            Err(error) => {
                tracing::warn!(%server, %error, "that rules are applied could not be noted");
                false
            }
        }
    }

    /// False if something else was noted since the turn was read.
    async fn note_applied(
        &self,
        turn: &FirewallTurn,
        revision: i64,
        enforced: bool,
    ) -> store::Result<bool> {
        let mut work = self.store.begin().await?;
        let applied = Applied { before: turn.applied, revision, enforced };
        let is_noted = firewalls::set_applied(&mut work, turn.server_id, applied).await?;
        if is_noted && enforced != turn.enforced {
            // What clients without a login may do hangs on it.
            instances::wake(&mut work, turn.instance_id, self.clock.now()).await?;
        }
        work.commit().await?;
        Ok(is_noted)
    }
}
