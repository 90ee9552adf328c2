//! Settings of single topics and brokers of a simulated cluster, and what follows from them:
//! a change of min ISR clears eligible leader replicas.

use super::SimKafka;
use super::admin::Asked;
use super::settings::{BROKER, BROKERS, TOPIC, given, read_values, typed};
use super::state::State;
use crate::client::{ChangedSettings, Changes, Cluster, Error, Setting, SettingsOf};
use crate::settings::MIN_IN_SYNC;
use kafka_protocol::ResponseError;
use std::collections::BTreeMap;

const DESCRIBE: &str = "DescribeConfigs";
const ALTER: &str = "IncrementalAlterConfigs";

impl SimKafka {
    pub(super) fn describe_each(
        &self,
        cluster: &Cluster,
        of: &[SettingsOf],
    ) -> Result<BTreeMap<SettingsOf, Vec<Setting>>, Error> {
        let mut found = BTreeMap::new();
        for of in of {
            let Some(target) = target(cluster, of) else { continue };
            let answer = self.ask(DESCRIBE, &target.brokers, |asked| Ok(asked.settings_of(of)));
            match answer {
                Err(error) if is_down(of, &error) => {}
                answer => found.extend(answer?.map(|settings| (of.clone(), settings))),
            }
        }
        Ok(found)
    }

    pub(super) fn change_each(
        &self,
        cluster: &Cluster,
        changes: &BTreeMap<SettingsOf, Changes>,
    ) -> Result<ChangedSettings, Error> {
        let mut outcome = ChangedSettings::default();
        for (of, changes) in changes.iter().filter(|(_, changes)| !changes.is_empty()) {
            let answer = match target(cluster, of) {
                Some(target) => self.ask(ALTER, &target.brokers, |asked| {
                    asked.change(|state| Ok(state.set(of, changes)))
                }),
                None => Err(Error::NoBrokers),
            };
            match answer {
                Ok(Ok(())) => outcome.done.push(of.clone()),
                Ok(Err(error)) => outcome.refused.push((of.clone(), error)),
                Err(error) if is_down(of, &error) => outcome.refused.push((of.clone(), error)),
                Err(error) => return Err(error),
            }
        }
        Ok(outcome)
    }
}

/// Who is asked; none for a broker that the caller does not name.
fn target(cluster: &Cluster, of: &SettingsOf) -> Option<Cluster> {
    let SettingsOf::Broker(id) = of else { return Some(cluster.clone()) };
    let itself = cluster.brokers.iter().find(|broker| broker.node_id == *id)?;
    Some(cluster.through(itself))
}

fn is_down(of: &SettingsOf, error: &Error) -> bool {
    let is_one = matches!(of, SettingsOf::Broker(_));
    is_one && (error.is_about_one_broker() || *error == Error::NoBrokers)
}

impl Asked<'_> {
    fn settings_of(&mut self, of: &SettingsOf) -> Option<Vec<Setting>> {
        let view = self.view();
        match of {
            SettingsOf::Brokers => Some(typed(BROKERS, &view.settings)),
            SettingsOf::Topic(name) => Some(typed(TOPIC, &view.topics.get(name)?.settings)),
            SettingsOf::Broker(id) => {
                Some(view.broker_settings.get(id).map_or_else(Vec::new, |it| typed(BROKER, it)))
            }
        }
    }
}

impl State {
    fn set(&mut self, of: &SettingsOf, changes: &Changes) -> Result<(), Error> {
        match of {
            SettingsOf::Brokers => self.set_all_brokers(changes),
            SettingsOf::Broker(id) => self.set_broker(*id, changes),
            SettingsOf::Topic(name) => {
                let Some(topic) = self.metadata.topics.get(name) else {
                    return Err(refusal(name, ResponseError::UnknownTopicOrPartition, ""));
                };
                let mut settings = topic.settings.clone();
                apply(&mut settings, changes, &read_values(ALTER, name, TOPIC, &given(changes))?);
                self.set_topic(name, settings);
                Ok(())
            }
        }
    }

    /// All that is set for a topic from then on.
    pub(super) fn set_topic(&mut self, name: &str, settings: BTreeMap<String, String>) {
        let topic = self.change().topics.get_mut(name).expect("it was looked up");
        if topic.settings.get(MIN_IN_SYNC) != settings.get(MIN_IN_SYNC) {
            topic.partitions.iter_mut().for_each(|partition| partition.elr.clear());
        }
        topic.settings = settings;
    }

    pub(super) fn set_all_brokers(&mut self, changes: &Changes) -> Result<(), Error> {
        if self.metadata.has_elr && changes.get(MIN_IN_SYNC).is_some_and(Option::is_none) {
            let message =
                "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.";
            return Err(refusal("all brokers", ResponseError::InvalidConfig, message));
        }
        let metadata = self.change();
        // Of these it tells the text it was given.
        apply(&mut metadata.settings, changes, &given(changes));
        if changes.contains_key(MIN_IN_SYNC) {
            metadata.each(|partition, _| partition.elr.clear());
        }
        Ok(())
    }

    fn set_broker(&mut self, id: i32, changes: &Changes) -> Result<(), Error> {
        let subject = format!("broker {id}");
        if self.metadata.has_elr && changes.contains_key(MIN_IN_SYNC) {
            let message =
                "Broker-level min.insync.replicas cannot be altered while ELR is enabled.";
            return Err(refusal(&subject, ResponseError::InvalidConfig, message));
        }
        read_values(ALTER, &subject, BROKER, &given(changes))?;
        let settings = self.change().broker_settings.entry(id).or_default();
        apply(settings, changes, &given(changes));
        Ok(())
    }
}

fn apply(
    settings: &mut BTreeMap<String, String>,
    changes: &Changes,
    given: &BTreeMap<String, String>,
) {
    settings.retain(|name, _| !changes.contains_key(name));
    settings.extend(given.clone());
}

fn refusal(subject: &str, code: ResponseError, message: &str) -> Error {
    let subject = subject.to_owned();
    Error::Kafka { call: ALTER, subject, code, message: message.to_owned() }
}
