//! Settings of a simulated cluster: some of Kafka's, with what their values are.

use super::SimKafka;
use crate::client::{
    ChangedSettings, Changes, Cluster, Error, Setting, SettingKind, Settings, SettingsOf,
};
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use std::collections::BTreeMap;

/// What Kafka reads a value as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Flag,
    Whole,
    Fraction,
    List,
    Text,
}

type Known = [(&'static str, Type)];

pub(super) const TOPIC: &Known = &[
    ("cleanup.policy", Type::List),
    ("compression.type", Type::Text),
    ("delete.retention.ms", Type::Whole),
    ("follower.replication.throttled.replicas", Type::List),
    ("leader.replication.throttled.replicas", Type::List),
    ("max.message.bytes", Type::Whole),
    ("message.timestamp.type", Type::Text),
    ("min.cleanable.dirty.ratio", Type::Fraction),
    ("min.insync.replicas", Type::Whole),
    ("retention.bytes", Type::Whole),
    ("retention.ms", Type::Whole),
    ("segment.bytes", Type::Whole),
    ("unclean.leader.election.enable", Type::Flag),
];

/// Of a single broker.
pub(super) const BROKER: &Known = &[
    ("cordoned.log.dirs", Type::List),
    ("follower.replication.throttled.rate", Type::Whole),
    ("leader.replication.throttled.rate", Type::Whole),
    ("min.insync.replicas", Type::Whole),
];

pub(super) const BROKERS: &Known = &[
    ("log.retention.bytes", Type::Whole),
    ("log.retention.ms", Type::Whole),
    ("log.segment.bytes", Type::Whole),
    ("message.max.bytes", Type::Whole),
    ("min.insync.replicas", Type::Whole),
    ("num.io.threads", Type::Whole),
    ("num.network.threads", Type::Whole),
];

impl Type {
    fn kind(self) -> SettingKind {
        match self {
            Self::Flag => SettingKind::Flag,
            Self::Whole | Self::Fraction => SettingKind::Number,
            Self::List | Self::Text => SettingKind::Text,
        }
    }

    /// The value as Kafka tells what it has read, or why it does not take it.
    fn read(self, value: &str) -> Result<String, &'static str> {
        let value = value.trim();
        match self {
            Self::Flag => {
                let flag = value.to_ascii_lowercase().parse::<bool>();
                flag.map(|flag| flag.to_string()).map_err(|_| "Expected true or false")
            }
            Self::Whole => {
                let number = value.parse::<i64>();
                number.map(|number| number.to_string()).map_err(|_| "Not a number")
            }
            Self::Fraction => {
                let number = value.parse::<f64>();
                number.map(|number| format!("{number:?}")).map_err(|_| "Not a number")
            }
            Self::List => Ok(value.split(',').map(str::trim).collect::<Vec<_>>().join(",")),
            Self::Text => Ok(value.to_owned()),
        }
    }
}

#[async_trait]
impl Settings for SimKafka {
    async fn describe_settings(&self, cluster: &Cluster) -> Result<Vec<Setting>, Error> {
        self.ask("DescribeConfigs", &cluster.brokers, |asked| {
            Ok(typed(BROKERS, &asked.view().settings))
        })
    }

    async fn check_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error> {
        self.ask("IncrementalAlterConfigs", &cluster.brokers, |asked| {
            read_values(asked.call, "all brokers", BROKERS, &given(changes)).map(drop)
        })
    }

    async fn change_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error> {
        self.ask("IncrementalAlterConfigs", &cluster.brokers, |asked| {
            // Of these it tells the text it was given.
            read_values(asked.call, "all brokers", BROKERS, &given(changes))?;
            asked.change(|state| state.set_all_brokers(changes))
        })
    }

    async fn describe_settings_of(
        &self,
        cluster: &Cluster,
        of: &[SettingsOf],
    ) -> Result<BTreeMap<SettingsOf, Vec<Setting>>, Error> {
        self.describe_each(cluster, of)
    }

    async fn change_settings_of(
        &self,
        cluster: &Cluster,
        changes: &BTreeMap<SettingsOf, Changes>,
    ) -> Result<ChangedSettings, Error> {
        self.change_each(cluster, changes)
    }
}

pub(super) fn given(changes: &Changes) -> BTreeMap<String, String> {
    let given = |(name, value): (&String, &Option<String>)| Some((name.clone(), value.clone()?));
    changes.iter().filter_map(given).collect()
}

fn type_of(known: &Known, name: &str) -> Option<Type> {
    known.iter().find(|(it, _)| *it == name).map(|(_, of)| *of)
}

/// With what they are; by name.
pub(super) fn typed(known: &Known, settings: &BTreeMap<String, String>) -> Vec<Setting> {
    let setting = |(name, value): (&String, &String)| Setting {
        name: name.clone(),
        value: value.clone(),
        kind: type_of(known, name).map_or(SettingKind::Text, Type::kind),
    };
    settings.iter().map(setting).collect()
}

/// As Kafka tells them; fails at the first that it would not take.
pub(super) fn read_values(
    call: &'static str,
    subject: &str,
    known: &Known,
    settings: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Error> {
    let mut values = BTreeMap::new();
    for (name, value) in settings {
        let read = match type_of(known, name) {
            None => Err(format!("Unknown config name: {name}")),
            Some(of) => of.read(value).map_err(|reason| {
                format!("Invalid value {value} for configuration {name}: {reason}")
            }),
        };
        let value = read.map_err(|message| Error::Kafka {
            call,
            subject: subject.to_owned(),
            code: ResponseError::InvalidConfig,
            message,
        })?;
        values.insert(name.clone(), value);
    }
    Ok(values)
}
