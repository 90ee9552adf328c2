//! Servers that were removed from their cluster: whatever was wrong with them is over, and who
//! heard that it began hears of it. Their samples are forgotten with their age.

use super::Watch;
use super::step::stop_watching_removed;
use crate::Result;
use model::AlarmType;
use store::{alarms, incidents, instances};

/// Whether what an alarm of this type is about is a server, if it has a name.
pub fn is_of_servers(kind: AlarmType) -> bool {
    use AlarmType::{Cpu, Disk, DiskForecast, Memory, ServerUnreachable};
    matches!(kind, Cpu | Memory | Disk | DiskForecast | ServerUnreachable)
}

impl Watch {
    /// Ends what is open of servers that are not on record any more.
    pub(super) async fn end_of_removed(&self) -> Result<()> {
        let mut reader = self.context.store().reader();
        for was in incidents::of_no_server(&mut reader).await? {
            let alarm = alarms::find(&mut reader, was.instance_id, was.alarm_id).await?;
            let Some(alarm) = alarm.filter(|it| is_of_servers(it.what.kind)) else { continue };
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
