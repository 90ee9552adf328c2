//! An instance with its servers, as an action finds them.

use super::open::replaced_by;
use crate::access::{self, on_servers_of_its_own};
use crate::{App, Error, InstanceAccess, Result};
use model::agent::{Phase, Report};
use model::{ActionKind, Instance, Server, SignedDuration, Timestamp};
use store::{Run, ServerRecord, servers};

/// An agent that was not heard for so long may be gone with its server.
const UNHEARD: SignedDuration = SignedDuration::from_secs(30);

pub(super) struct Scene {
    pub instance: Instance,
    /// By number.
    pub servers: Vec<Server>,
}

impl Scene {
    /// Looked at anew: since the caller was let in, the instance may have been
    /// changed or deleted. Within the transaction of a change it stays as found.
    pub async fn load(access: &InstanceAccess, app: &App, run: &mut impl Run) -> Result<Self> {
        let instance = access.still_there(run).await?;
        on_servers_of_its_own(app, &instance)?;
        Ok(Self { servers: servers::list_bare(run, instance.id).await?, instance })
    }

    /// Fails unless clients can use it: otherwise nobody can say what its
    /// servers could do without each other.
    pub fn ready(&self) -> Result<()> {
        access::ready(&self.instance)
    }

    /// Fails unless it is ready and follows no change.
    pub async fn settled(&self, access: &InstanceAccess, run: &mut impl Run) -> Result<()> {
        self.ready()?;
        replaced_by(access, run, &self.instance, ActionKind::ClusterRestart, &[]).await?;
        if self.instance.configured() {
            return Ok(());
        }
        // The journal no longer has the action, as after a restore.
        Err(Error::Refused(format!(
            "The cluster follows another change ({}); try again once `configured` reads true",
            self.instance.progress.status_without_logs()
        )))
    }
}

/// Whether its broker does not run or does not answer, as far as its agent tells.
pub(super) fn is_down(record: &ServerRecord, now: Timestamp) -> bool {
    let is_unheard = |at: Timestamp| now.duration_since(at) > UNHEARD;
    let says_so = |it: Report| it.phase != Phase::Running || it.silent_since.is_some();
    record.server.last_seen.is_some_and(is_unheard) || record.current_report().is_some_and(says_so)
}
