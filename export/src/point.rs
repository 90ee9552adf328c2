//! A number on its way to another system, and where it comes from.

use model::{GroupSeries, Instance, InstanceId, Series, Timestamp, TopicSeries};
use series::Measure;
use std::borrow::Cow;
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

/// The mean of one series in one minute.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Such as `castellan.kafka.cpu_percent`.
    pub name: Cow<'static, str>,
    /// Such as `%`; empty if it has none.
    pub unit: &'static str,
    /// The beginning of the minute.
    pub at: Timestamp,
    pub value: f64,
    pub server: Arc<Server>,
    /// What it is of, if not of the whole server: `topic` or `group`, and its name.
    pub label: Option<(&'static str, Arc<str>)>,
}

/// The server that points are of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    pub name: String,
    pub hostname: String,
}

/// The instance that points are of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    pub id: InstanceId,
    pub name: String,
    pub plan: String,
    pub region: String,
    /// As the customer wrote them.
    pub tags: Vec<String>,
}

impl Origin {
    pub(crate) fn new(instance: &Instance) -> Self {
        Self {
            id: instance.id,
            name: instance.name.as_str().to_owned(),
            plan: instance.plan.to_string(),
            region: instance.region.to_string(),
            tags: instance.tags.as_slice().to_vec(),
        }
    }
}

/// What a measure is called elsewhere.
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
