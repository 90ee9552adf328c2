//! What a measure is called elsewhere.

use model::{GroupSeries, Series, TopicSeries};
use series::Measure;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// What every name begins with. Dashboards of customers are built on these names, so they
/// never change.
const PREFIX: &str = "castellan.kafka.";

/// Names of series as they are sent, by their names here.
static NAMES: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(|| {
    let servers = Series::ALL.iter().map(|series| series.as_str());
    let topics = TopicSeries::ALL.iter().map(|series| series.as_str());
    let groups = GroupSeries::ALL.iter().map(|series| series.as_str());
    let all = servers.chain(topics).chain(groups);
    all.map(|name| (name, format!("{PREFIX}{name}"))).collect()
});

pub(crate) fn name(measure: &Measure) -> &'static str {
    NAMES.get(measure.series()).map_or("", String::as_str)
}

/// What a measure is of, if not of the whole server.
pub(crate) fn label(measure: &Measure) -> Option<(&'static str, Arc<str>)> {
    match measure {
        Measure::Server(_) => None,
        Measure::Topic(topic, _) => Some(("topic", Arc::clone(topic))),
        Measure::Group(group, _) => Some(("group", Arc::clone(group))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_a_name_that_other_systems_take() {
        let servers = Series::ALL.iter().map(|series| Measure::Server(*series));
        let topics = TopicSeries::ALL.iter().map(|series| Measure::Topic("t".into(), *series));
        let groups = GroupSeries::ALL.iter().map(|series| Measure::Group("g".into(), *series));
        let names: Vec<_> = servers.chain(topics).chain(groups).map(|it| name(&it)).collect();
        assert_eq!(names[0], "castellan.kafka.cpu_percent");
        assert_eq!(names.last(), Some(&"castellan.kafka.group_lag_seconds"));
        let fits =
            |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'0'..=b'9' | b'.' | b'_');
        for name in names {
            assert!(name.len() > PREFIX.len() && name.len() <= 100, "{name}");
            assert!(name.bytes().all(fits), "{name}");
        }
    }
}
