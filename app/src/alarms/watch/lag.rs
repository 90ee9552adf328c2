//! Consumer groups that are too far behind.

use super::step::Seen;
use super::{Level, Watch, level};
use crate::Result;
use model::{Alarm, GroupSeries, Incident, InstanceId, Series, Timestamp};
use series::Sample;
use std::collections::BTreeMap;

impl Watch {
    /// Looks at a sample that tells of groups.
    pub(super) async fn lags(
        &mut self,
        alarm: &Alarm,
        open: &[Incident],
        instance: InstanceId,
        sample: &Sample,
        at: Timestamp,
    ) -> Result<()> {
        let is_meant = |group: &str| alarm.what.group.as_deref().is_none_or(|it| it == group);
        let mut behind: BTreeMap<String, f64> = BTreeMap::new();
        for (group, values) in sample.groups.iter().filter(|(group, _)| is_meant(group)) {
            if let Some(seconds) = values.get(&GroupSeries::LagSeconds) {
                behind.insert(group.to_string(), f64::from(*seconds));
            }
        }
        // One that is gone is not behind any more.
        if sample.value(Series::GroupsLeftOut) == Some(0.0) {
            for gone in open.iter().filter(|it| it.alarm_id == alarm.id) {
                behind.entry(gone.about.clone()).or_insert(0.0);
            }
        }
        for (group, seconds) in behind {
            let level: Level = level::of_lag(&alarm.what, seconds);
            let seen = Seen { about: &group, at, since: None, value: Some(seconds) };
            self.look(instance, alarm, open, &seen, level).await?;
        }
        Ok(())
    }
}
