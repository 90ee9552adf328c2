//! The settings of all brokers that customers may choose, what their values may
//! be, and which of them a broker reads only when it starts. Pure.

use crate::client::Changes;
use crate::render;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    Flag,
    /// A number within bounds.
    Number(RangeInclusive<i64>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    pub name: &'static str,
    pub kind: Kind,
    /// Read at the start alone: another value needs a restart.
    pub at_start: bool,
}

const fn flag_at_start(name: &'static str) -> Known {
    Known { name, kind: Kind::Flag, at_start: true }
}

/// Kafka changes the number of threads of a running broker to at most twice and at
/// least half of what it is, and at a start compares it with the configuration file
/// in the same way. A broker that finds it out of these bounds then leaves out all
/// settings that were made while it ran. So the number is in the file alone.
const fn threads(name: &'static str) -> Known {
    Known { name, kind: Kind::Number(1..=64), at_start: true }
}

const fn live(name: &'static str, bounds: RangeInclusive<i64>) -> Known {
    Known { name, kind: Kind::Number(bounds), at_start: false }
}

/// How many copies a write with acks=all waits for at least; of a topic, or of all.
pub const MIN_IN_SYNC: &str = "min.insync.replicas";

/// Directories in which Kafka places no new replicas by itself; `*` for all (from 4.3). Of a
/// broker.
pub const CORDONED: &str = "cordoned.log.dirs";

/// How large a batch of messages may be, of topics that say nothing else.
pub const MESSAGE_BYTES: &str = "message.max.bytes";
/// The same, of one topic.
pub const TOPIC_MESSAGE_BYTES: &str = "max.message.bytes";

const INT: i64 = i32::MAX as i64;

/// By name.
pub const KNOWN: [Known; 8] = [
    flag_at_start("auto.create.topics.enable"),
    live("log.retention.bytes", -1..=i64::MAX),
    live("log.retention.ms", -1..=i64::MAX),
    live("log.segment.bytes", 1024 * 1024..=INT),
    live(MESSAGE_BYTES, 0..=INT),
    live(MIN_IN_SYNC, 1..=INT),
    threads("num.io.threads"),
    threads("num.network.threads"),
];

pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

impl Known {
    /// The value in its one spelling, or what it must be.
    pub fn value(&self, text: &str) -> Result<String, String> {
        match &self.kind {
            Kind::Flag => match text.trim().to_ascii_lowercase().as_str() {
                "true" => Ok("true".into()),
                "false" => Ok("false".into()),
                _ => Err("must be true or false".into()),
            },
            Kind::Number(bounds) => match text.trim().parse::<i64>() {
                Ok(number) if bounds.contains(&number) => Ok(number.to_string()),
                _ => Err(format!("must be a number from {} to {}", bounds.start(), bounds.end())),
            },
        }
    }
}

/// What a broker with that heap takes, where it is less than Kafka would: a message
/// that fits into no request can't be written.
pub fn bounds(name: &str, heap_mb: u32) -> Option<RangeInclusive<i64>> {
    let most = render::Limits::of_heap(heap_mb).message_bytes();
    matches!(name, MESSAGE_BYTES | TOPIC_MESSAGE_BYTES).then_some(0..=i64::from(most))
}

/// Those that brokers are started with.
pub fn at_start(chosen: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is = |name: &str| known(name).is_some_and(|known| known.at_start);
    chosen.iter().filter(|(name, _)| is(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
}

/// Those that are changed while brokers run.
pub fn while_running(chosen: &BTreeMap<String, String>) -> Changes {
    let is = |name: &str| known(name).is_some_and(|known| !known.at_start);
    chosen.iter().filter(|(name, _)| is(name)).map(|(n, v)| (n.clone(), Some(v.clone()))).collect()
}

/// What Kafka is to hold of them. Earlier versions of Castellan wrote the number of
/// threads into Kafka, where it would be in the way of the one in the file.
pub fn in_kafka(chosen: &BTreeMap<String, String>) -> Changes {
    let mut changes = while_running(chosen);
    changes.extend(at_start(chosen).into_keys().map(|name| (name, None)));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_spelling_and_bounds() {
        let check = |name: &str, text: &str, expected: Result<&str, &str>| {
            let value = known(name).unwrap().value(text);
            assert_eq!(value.as_deref().map_err(String::as_str), expected, "{name}={text}");
        };
        check("auto.create.topics.enable", " TRUE ", Ok("true"));
        check("auto.create.topics.enable", "1", Err("must be true or false"));
        check("log.retention.ms", "0060000", Ok("60000"));
        check("log.retention.ms", "-1", Ok("-1"));
        check("num.io.threads", "64", Ok("64"));
        check("num.io.threads", "65", Err("must be a number from 1 to 64"));
        check("num.network.threads", "8.0", Err("must be a number from 1 to 64"));
        assert!(known("log.dirs").is_none());
    }

    #[test]
    fn a_message_fits_into_a_request() {
        assert_eq!(bounds(MESSAGE_BYTES, 256), Some(0..=(4 << 20) - (64 << 10)));
        assert_eq!(bounds(TOPIC_MESSAGE_BYTES, 1024), Some(0..=(16 << 20) - (64 << 10)));
        assert_eq!(bounds("num.io.threads", 1024), None);
    }

    #[test]
    fn a_broker_is_started_only_with_what_it_reads_then() {
        let chosen: BTreeMap<String, String> =
            KNOWN.iter().map(|known| (known.name.to_owned(), "1".to_owned())).collect();
        assert_eq!(
            at_start(&chosen).into_keys().collect::<Vec<_>>(),
            ["auto.create.topics.enable", "num.io.threads", "num.network.threads"]
        );
        assert_eq!(while_running(&chosen).len(), KNOWN.len() - 3);
        let left_to_kafka = in_kafka(&chosen);
        assert_eq!(left_to_kafka["num.io.threads"], None);
        assert_eq!(left_to_kafka["log.retention.ms"], Some("1".into()));
    }
}
