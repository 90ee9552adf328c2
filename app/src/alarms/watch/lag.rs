//! Consumer groups that are too far behind.

use super::step::Seen;
use super::{Level, Watch, level};
use crate::Result;
use crate::metrics::Lags;
use model::{Alarm, AlarmSpec, AlarmType, Incident, InstanceId};
use store::{alarms, incidents};

impl Watch {
    /// Looks at how far behind the groups of a cluster are.
    pub async fn groups(&mut self, instance: InstanceId, lags: &Lags) -> Result<()> {
        let mut reader = self.app.store().reader();
        let mut watched = alarms::list(&mut reader, instance).await?;
        watched.retain(|it| it.what.enabled && it.what.kind == AlarmType::ConsumerLag);
        if watched.is_empty() {
            return Ok(());
        }
        let open = incidents::open(&mut reader, instance).await?;
        for alarm in watched {
            self.lags(&alarm, &open, instance, lags).await?;
        }
        Ok(())
    }

    async fn lags(
        &mut self,
        alarm: &Alarm,
        open: &[Incident],
        instance: InstanceId,
        lags: &Lags,
    ) -> Result<()> {
        let at = self.app.now();
        for (group, seconds, level) in told(&alarm.what, lags) {
            let seen = Seen { about: group, at, since: None, value: Some(seconds) };
            self.look(instance, alarm, open, &seen, level).await?;
        }
        // One that is gone is not behind any more.
        for gone in open.iter().filter(|it| it.alarm_id == alarm.id) {
            if lags.gone.contains(&gone.about) {
                let seen = Seen { about: &gone.about, at, since: None, value: Some(0.0) };
                self.look(instance, alarm, open, &seen, Level::Clear).await?;
            }
        }
        Ok(())
    }
}

/// Of the groups that an alarm is about, those of which it is known where they stand.
fn told<'a>(spec: &'a AlarmSpec, lags: &'a Lags) -> impl Iterator<Item = (&'a str, f64, Level)> {
    let is_meant = |group: &str| spec.group.as_deref().is_none_or(|it| it == group);
    lags.groups.iter().filter(move |(group, _)| is_meant(group)).filter_map(|(group, lag)| {
        #[expect(clippy::cast_precision_loss, reason = "nobody is ages behind")]
        let seconds = lag.seconds as f64;
        let level = level::of_lag(spec, seconds);
        let is_known = level == Level::Beyond || !lag.at_least;
        is_known.then_some((&**group, seconds, level))
    })
}
