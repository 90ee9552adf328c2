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

const fn live(name: &'static str, bounds: RangeInclusive<i64>) -> Known {
    Known { name, kind: Kind::Number(bounds), at_start: false }
}

/// How many copies a write with acks=all waits for at least; of a topic, or of all.
pub const MIN_IN_SYNC: &str = "min.insync.replicas";

const INT: i64 = i32::MAX as i64;
const THREADS: RangeInclusive<i64> = 1..=256;

/// By name.
pub const KNOWN: [Known; 8] = [
    Known { name: "auto.create.topics.enable", kind: Kind::Flag, at_start: true },
    live("log.retention.bytes", -1..=i64::MAX),
    live("log.retention.ms", -1..=i64::MAX),
    live("log.segment.bytes", 1024 * 1024..=INT),
    live("message.max.bytes", 0..=INT),
    live(MIN_IN_SYNC, 1..=INT),
    live("num.io.threads", THREADS),
    live("num.network.threads", THREADS),
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

/// What a broker of so many cores takes. Kafka refuses at a start, as at any change,
/// to have more than twice as many threads as it started with or less than half, and
/// then leaves out all other settings as well.
pub fn bounds(name: &str, cores: u32) -> Option<RangeInclusive<i64>> {
    let threads = render::threads(cores);
    let first = match name {
        "num.io.threads" => threads.io,
        "num.network.threads" => threads.network,
        _ => return None,
    };
    Some(i64::from(first / 2)..=i64::from(first * 2))
}

/// Those that brokers are started with.
pub fn at_start(chosen: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is = |name: &str| known(name).is_some_and(|known| known.at_start);
    chosen.iter().filter(|(name, _)| is(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
}

/// Those that are written into Kafka while brokers run.
pub fn while_running(chosen: &BTreeMap<String, String>) -> Changes {
    let is = |name: &str| known(name).is_some_and(|known| !known.at_start);
    chosen.iter().filter(|(name, _)| is(name)).map(|(n, v)| (n.clone(), Some(v.clone()))).collect()
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
        check("num.io.threads", "0", Err("must be a number from 1 to 256"));
        check("num.io.threads", "8.0", Err("must be a number from 1 to 256"));
        assert!(known("log.dirs").is_none());
    }

    #[test]
    fn threads_stay_within_what_a_broker_takes_at_its_start() {
        assert_eq!(bounds("num.io.threads", 1), Some(2..=8));
        assert_eq!(bounds("num.network.threads", 1), Some(1..=4));
        assert_eq!(bounds("num.io.threads", 16), Some(16..=64));
        assert_eq!(bounds("log.retention.ms", 1), None);
    }

    #[test]
    fn a_broker_is_started_only_with_what_it_reads_then() {
        let chosen: BTreeMap<String, String> =
            KNOWN.iter().map(|known| (known.name.to_owned(), "1".to_owned())).collect();
        assert_eq!(
            at_start(&chosen).into_keys().collect::<Vec<_>>(),
            ["auto.create.topics.enable"]
        );
        assert_eq!(while_running(&chosen).len(), KNOWN.len() - 1);
    }
}
