//! Settings of a simulated cluster: some of Kafka's, with what their values are.

use super::SimKafka;
use crate::client::{Changes, Cluster, Error, Setting, SettingKind, Settings};
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use std::collections::BTreeMap;

type Known = [(&'static str, SettingKind)];

pub(super) const TOPIC: &Known = &[
    ("cleanup.policy", SettingKind::Text),
    ("compression.type", SettingKind::Text),
    ("delete.retention.ms", SettingKind::Number),
    ("max.message.bytes", SettingKind::Number),
    ("message.timestamp.type", SettingKind::Text),
    ("min.insync.replicas", SettingKind::Number),
    ("retention.bytes", SettingKind::Number),
    ("retention.ms", SettingKind::Number),
    ("segment.bytes", SettingKind::Number),
    ("unclean.leader.election.enable", SettingKind::Flag),
];

const BROKERS: &Known = &[
    ("log.retention.bytes", SettingKind::Number),
    ("log.retention.ms", SettingKind::Number),
    ("log.segment.bytes", SettingKind::Number),
    ("message.max.bytes", SettingKind::Number),
    ("min.insync.replicas", SettingKind::Number),
    ("num.io.threads", SettingKind::Number),
    ("num.network.threads", SettingKind::Number),
];

#[async_trait]
impl Settings for SimKafka {
    async fn describe_settings(&self, cluster: &Cluster) -> Result<Vec<Setting>, Error> {
        self.ask("DescribeConfigs", &cluster.brokers, |asked| {
            Ok(typed(BROKERS, &asked.view().settings))
        })
    }

    async fn check_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error> {
        self.ask("IncrementalAlterConfigs", &cluster.brokers, |asked| {
            check_values(asked.call, "all brokers", BROKERS, &given(changes))
        })
    }

    async fn change_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error> {
        self.ask("IncrementalAlterConfigs", &cluster.brokers, |asked| {
            check_values(asked.call, "all brokers", BROKERS, &given(changes))?;
            asked.change(|state| {
                let settings = &mut state.change().settings;
                settings.retain(|name, _| !changes.contains_key(name));
                settings.extend(given(changes));
                Ok(())
            })
        })
    }
}

fn given(changes: &Changes) -> BTreeMap<String, String> {
    let given = |(name, value): (&String, &Option<String>)| Some((name.clone(), value.clone()?));
    changes.iter().filter_map(given).collect()
}

/// With what they are; by name.
pub(super) fn typed(known: &Known, settings: &BTreeMap<String, String>) -> Vec<Setting> {
    let kind = |name: &str| known.iter().find(|(it, _)| *it == name).map(|(_, kind)| *kind);
    let setting = |(name, value): (&String, &String)| Setting {
        name: name.clone(),
        value: value.clone(),
        kind: kind(name).unwrap_or(SettingKind::Text),
    };
    settings.iter().map(setting).collect()
}

/// Fails at the first that Kafka would not take.
pub(super) fn check_values(
    call: &'static str,
    subject: &str,
    known: &Known,
    settings: &BTreeMap<String, String>,
) -> Result<(), Error> {
    for (name, value) in settings {
        let message = match known.iter().find(|(it, _)| it == name) {
            None => format!("Unknown config name: {name}"),
            Some((_, SettingKind::Number)) if value.parse::<i64>().is_err() => {
                format!("Invalid value {value} for configuration {name}: Not a number")
            }
            Some((_, SettingKind::Flag)) if !["true", "false"].contains(&value.as_str()) => {
                format!("Invalid value {value} for configuration {name}: Expected true or false")
            }
            Some(_) => continue,
        };
        let code = ResponseError::InvalidConfig;
        return Err(Error::Kafka { call, subject: subject.to_owned(), code, message });
    }
    Ok(())
}
