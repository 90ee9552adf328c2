//! Consumer groups that are too far behind.
//!
//! A cluster may have thousands of groups, and the alarms of all customers are looked at
//! one after another: of each alarm those that are the furthest behind are looked at, and
//! those that something is known of already.

use super::step::Seen;
use super::{Level, Watch, level};
use crate::Result;
use crate::metrics::Lags;
use model::{Alarm, AlarmId, AlarmSpec, AlarmType, Incident, InstanceId};
use std::collections::HashMap;
use store::{alarms, incidents};

/// Groups that nothing is known of yet, of one alarm at one look.
const MOST: usize = 200;

/// What is open, by alarm and group.
type Open<'a> = HashMap<(AlarmId, &'a str), &'a Incident>;

impl Watch {
    /// Looks at how far behind the groups of a cluster are.
    pub async fn groups(&mut self, instance: InstanceId, lags: &Lags) -> Result<()> {
        let mut reader = self.context.store().reader();
        let mut watched = alarms::list(&mut reader, instance).await?;
        watched.retain(|it| it.what.enabled && it.what.kind == AlarmType::ConsumerLag);
        if watched.is_empty() {
            return Ok(());
        }
        let open = incidents::open(&mut reader, instance).await?;
        let open: Open<'_> = open.iter().map(|it| ((it.alarm_id, it.about.as_str()), it)).collect();
        for alarm in watched {
            self.lags(&alarm, &open, instance, lags).await?;
        }
        Ok(())
    }

    async fn lags(
        &mut self,
        alarm: &Alarm,
        open: &Open<'_>,
        instance: InstanceId,
        lags: &Lags,
    ) -> Result<()> {
        let at = self.context.now();
        let incident = |group: &str| open.get(&(alarm.id, group)).copied();
        for (group, seconds, level) in
            furthest(levels(&alarm.what, lags), |it| incident(it).is_some())
        {
            let seen = Seen { about: group, at, since: None, value: Some(seconds) };
            self.look_at(instance, alarm, incident(group), &seen, level).await?;
        }
        // One that is gone is not behind any more.
        for gone in &lags.gone {
            if let Some(open) = incident(gone) {
                let seen = Seen { about: gone, at, since: None, value: Some(0.0) };
                self.look_at(instance, alarm, Some(open), &seen, Level::Clear).await?;
            }
        }
        Ok(())
    }
}

/// A group, how many seconds it is behind, and what that means.
type Found<'a> = (&'a str, f64, Level);

/// Those that are the furthest behind, and all that something is known of.
fn furthest<'a>(
    found: impl Iterator<Item = Found<'a>>,
    is_known: impl Fn(&str) -> bool,
) -> Vec<Found<'a>> {
    let mut found: Vec<Found<'a>> = found.collect();
    found.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut unknown = 0;
    found.retain(|&(group, ..)| {
        let is_known = is_known(group);
        unknown += usize::from(!is_known);
        is_known || unknown <= MOST
    });
    found
}

/// Of the groups that an alarm is about, those of which it is known where they stand.
fn levels<'a>(spec: &'a AlarmSpec, lags: &'a Lags) -> impl Iterator<Item = Found<'a>> {
    let is_meant = |group: &str| spec.group.as_deref().is_none_or(|it| it == group);
    lags.groups.iter().filter(move |(group, _)| is_meant(group)).filter_map(|(group, lag)| {
        #[expect(clippy::cast_precision_loss, reason = "nobody is ages behind")]
        let seconds = lag.seconds as f64;
        let level = level::of_lag(spec, seconds);
        let is_known = level == Level::Beyond || !lag.at_least;
        is_known.then_some((&**group, seconds, level))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_groups_the_furthest_are_looked_at_and_those_that_are_known() {
        let names: Vec<String> = (0..5000).map(|number| format!("group-{number}")).collect();
        let behind = (0..5000_u32).map(f64::from);
        let groups = names.iter().map(String::as_str).zip(behind);
        let groups = groups.map(|(name, seconds)| (name, seconds, Level::Beyond));
        let is_known = |name: &str| ["group-7", "group-4999"].contains(&name);
        let found: Vec<&str> = furthest(groups, is_known).into_iter().map(|it| it.0).collect();
        assert_eq!(found.len(), MOST + 2);
        assert_eq!(found[..2], ["group-4999", "group-4998"]);
        assert_eq!(found[MOST..], ["group-4799", "group-7"]);
    }
}
