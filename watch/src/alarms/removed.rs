//! Servers that were removed from their cluster, or shall not run any more before they are:
//! whatever was wrong with them is over, and who heard that it began hears of it. Their samples
//! are forgotten with their age.

use super::Watch;
use super::step::stop_watching_removed;
use crate::Result;
use model::{Alarm, AlarmType};
use store::{alarms, incidents, instances, servers};

/// Whether what an alarm of this type is about is a server, if it has a name that no server has
/// any more.
pub fn is_of_servers(kind: AlarmType) -> bool {
    use AlarmType::{Cpu, Disk, DiskForecast, Memory, ServerUnreachable, UnderMinIsr};
    matches!(kind, Cpu | Memory | Disk | DiskForecast | ServerUnreachable | UnderMinIsr)
}

impl Watch {
    /// Ends what is open of servers that are not on record any more, or soon will not be.
    pub(super) async fn end_of_removed(&self) -> Result<()> {
        let mut reader = self.context.store().reader();
        for was in incidents::of_no_server(&mut reader).await? {
            let alarm = alarms::find(&mut reader, was.instance_id, was.alarm_id).await?;
            let known = servers::list_bare(&mut reader, was.instance_id).await?;
            let is_leaving = known.iter().any(|server| server.name == was.about);
            let is_of_it = |alarm: &Alarm| is_leaving || is_of_servers(alarm.what.kind);
            let Some(alarm) = alarm.filter(is_of_it) else { continue };
            let mut work = self.context.store().begin().await?;
            let instance = instances::find(&mut work, was.instance_id).await?;
            if let Some(instance) = instance.filter(|it| it.deleted_at.is_none()) {
                stop_watching_removed(&mut work, &self.context, &instance, &alarm, &was).await?;
                work.commit().await?;
            }
        }
        Ok(())
    }
}
