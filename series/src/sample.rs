//! What was measured of one server at one time.

use model::{GroupSeries, Series, TopicSeries};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a number is of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Measure {
    Server(Series),
    Topic(Arc<str>, TopicSeries),
    Group(Arc<str>, GroupSeries),
}

impl Measure {
    pub fn series(&self) -> &'static str {
        match self {
            Measure::Server(series) => series.as_str(),
            Measure::Topic(_, series) => series.as_str(),
            Measure::Group(_, series) => series.as_str(),
        }
    }

    pub fn unit(&self) -> &'static str {
        match self {
            Measure::Server(series) => series.unit(),
            Measure::Topic(_, series) => series.unit(),
            Measure::Group(_, series) => series.unit(),
        }
    }

    pub fn topic(&self) -> Option<&str> {
        match self {
            Measure::Topic(topic, _) => Some(topic),
            _ => None,
        }
    }

    pub fn group(&self) -> Option<&str> {
        match self {
            Measure::Group(group, _) => Some(group),
            _ => None,
        }
    }

    /// From how it shows: a series, or a series, a slash and a topic or group.
    pub fn parse(text: &str) -> Option<Self> {
        let Some((series, name)) = text.split_once('/') else {
            return text.parse().ok().map(Measure::Server);
        };
        match series.parse() {
            Ok(series) => Some(Measure::Topic(name.into(), series)),
            Err(_) => Some(Measure::Group(name.into(), series.parse().ok()?)),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Server(series) => write!(f, "{series}"),
            Measure::Topic(topic, series) => write!(f, "{series}/{topic}"),
            Measure::Group(group, series) => write!(f, "{series}/{group}"),
        }
    }
}

/// What stands for several points that were made one. Points as they were
/// sampled are both, and are kept as averages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Of {
    Average,
    Max,
}

/// Everything measured of one server at one time. Topics and groups are sampled less
/// often, and only the busiest of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sample {
    /// Unix seconds, a multiple of [`crate::STEP`].
    pub at: i64,
    pub values: BTreeMap<Series, f32>,
    pub topics: BTreeMap<Arc<str>, BTreeMap<TopicSeries, f32>>,
    pub groups: BTreeMap<Arc<str>, BTreeMap<GroupSeries, f32>>,
}

impl Sample {
    pub fn value(&self, series: Series) -> Option<f32> {
        self.values.get(&series).copied()
    }

    pub fn measures(&self) -> impl Iterator<Item = (Measure, f32)> {
        let server = self.values.iter().map(|(series, value)| (Measure::Server(*series), *value));
        let topics = self.topics.iter().flat_map(|(topic, values)| {
            values
                .iter()
                .map(move |(series, value)| (Measure::Topic(Arc::clone(topic), *series), *value))
        });
        let groups = self.groups.iter().flat_map(|(group, values)| {
            values
                .iter()
                .map(move |(series, value)| (Measure::Group(Arc::clone(group), *series), *value))
        });
        server.chain(topics).chain(groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_read_as_they_show() {
        for text in ["cpu_percent", "topic_log_size_bytes/orders", "group_lag_seconds/a/b c"] {
            assert_eq!(
                Measure::parse(text).map(|measure| measure.to_string()).as_deref(),
                Some(text)
            );
        }
        for text in ["", "cpu", "cpu_percent/orders", "topic_log_size_bytes"] {
            assert_eq!(Measure::parse(text), None, "{text}");
        }
    }
}
