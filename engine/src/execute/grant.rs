//! How much memory and how many cores a server is let have.
//!
//! A change of plan gives more at once. It takes away only once the broker has been restarted
//! with less: a limit below what a running broker was started with would kill it.

use crate::pass::Pass;
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use store::servers::{self, Grant};

impl Engine {
    pub(super) async fn grant(&self, world: &World, view: &ServerView) -> Result<Grant, PassError> {
        let plan = self.plan_of(world)?;
        let wanted = Grant { cores: plan.family.cores, memory_mb: plan.family.memory_gb * 1024 };
        if runs_as_rendered(view) {
            return Ok(wanted);
        }
        let given = servers::grant(&mut self.store.reader(), view.server.id).await?;
        Ok(given.map_or(wanted, |given| Grant {
            cores: wanted.cores.max(given.cores),
            memory_mb: wanted.memory_mb.max(given.memory_mb),
        }))
    }

    /// To be called once the cloud has it.
    pub(super) async fn note_grant(
        &self,
        pass: &Pass,
        view: &ServerView,
        grant: Grant,
    ) -> Result<(), PassError> {
        let id = view.server.id;
        if servers::grant(&mut self.store.reader(), id).await? == Some(grant) {
            return Ok(());
        }
        let mut work = self.guarded(pass).await?;
        servers::set_grant(&mut work, id, grant).await?;
        Ok(work.commit().await?)
    }
}

/// Whether its broker was started with the configuration that is on record.
fn runs_as_rendered(view: &ServerView) -> bool {
    let running = view.current_report().and_then(|report| report.config_hash.as_ref());
    let rendered = view.broker.as_ref().map(|broker| &broker.config_hash);
    running.is_some() && running == rendered
}
