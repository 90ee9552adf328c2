//! Topics of a simulated cluster: what Kafka would refuse is refused, in its
//! codes and much in its words.

use super::SimKafka;
use super::admin::Asked;
use super::metadata::Topic as SimTopic;
use super::partition::Partition;
use super::settings::{TOPIC, read_values, typed};
use super::state::State;
use crate::client::{Cluster, Created, Error, NewTopic, Topic, TopicChange, Topics};
use crate::throttle::is_ours;
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use std::collections::BTreeMap;

const MAX_NAME: usize = 249;

#[async_trait]
impl Topics for SimKafka {
    async fn list_topics(&self, cluster: &Cluster) -> Result<Vec<Topic>, Error> {
        self.ask("Metadata", &cluster.brokers, |asked| {
            Ok(asked.view().topics.iter().map(|(name, topic)| view(name, topic)).collect())
        })
    }

    async fn describe_topic(&self, cluster: &Cluster, name: &str) -> Result<Option<Topic>, Error> {
        self.ask("Metadata", &cluster.brokers, |asked| {
            Ok(asked.view().topics.get(name).map(|topic| view(name, topic)))
        })
    }

    async fn count_replicas(&self, cluster: &Cluster) -> Result<BTreeMap<String, usize>, Error> {
        self.ask("Metadata", &cluster.brokers, |asked| {
            let replicas =
                |topic: &SimTopic| topic.partitions.iter().map(|it| it.replicas.len()).sum();
            let view = asked.view();
            Ok(view.topics.iter().map(|(name, topic)| (name.clone(), replicas(topic))).collect())
        })
    }

    async fn change_topic(
        &self,
        cluster: &Cluster,
        name: &str,
        change: &TopicChange,
    ) -> Result<bool, Error> {
        self.ask("CreatePartitions", &cluster.brokers, |asked| {
            let Some(seen) = asked.seen_partitions(name) else { return Ok(false) };
            let there = asked.state.metadata.topics.get(name).map(|it| it.partitions.len());
            if change.partitions.is_some_and(|it| seen < count(it) && Some(count(it)) <= there) {
                return Err(asked.stale(name));
            }
            if !asked.hand_on(|state| state.change_topic(name, change))? {
                return Ok(false);
            }
            asked.until_read(true)
        })
    }

    async fn delete_topic(&self, cluster: &Cluster, name: &str) -> Result<bool, Error> {
        self.ask("DeleteTopics", &cluster.brokers, |asked| {
            let is_there = asked.hand_on(|state| {
                state.copies.retain(|(topic, _), _| topic != name);
                state.forget_offsets(name);
                Ok(state.change().topics.remove(name).is_some())
            })?;
            if is_there { asked.until_read(true) } else { Ok(false) }
        })
    }
}

impl Asked<'_> {
    /// How many partitions of a topic the broker knows, after the time that a call waits for
    /// what others changed; none if it does not know the topic.
    fn seen_partitions(&mut self, name: &str) -> Option<usize> {
        let view = if self.is_held() { self.view() } else { self.state.metadata.clone() };
        view.topics.get(name).map(|topic| topic.partitions.len())
    }
}

fn view(name: &str, topic: &SimTopic) -> Topic {
    let partitions = topic.partitions.iter().enumerate();
    let mut settings = typed(TOPIC, &topic.settings);
    settings.retain(|setting| !is_ours(&setting.name));
    Topic {
        name: name.to_owned(),
        partitions: partitions.map(|(at, partition)| partition.view(at)).collect(),
        settings,
    }
}

fn refusal(call: &'static str, name: &str, code: ResponseError, message: &str) -> Error {
    Error::Kafka { call, subject: name.to_owned(), code, message: message.to_owned() }
}

impl State {
    pub(super) fn create_topic(&mut self, topic: &NewTopic) -> Result<Created, Error> {
        let refused = |code, message: &str| refusal("CreateTopics", &topic.name, code, message);
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if topic.name.is_empty() || topic.name.len() > MAX_NAME || !topic.name.bytes().all(allowed)
        {
            return Err(refused(ResponseError::InvalidTopicException, "the name is illegal"));
        }
        if self.metadata.topics.contains_key(&topic.name) {
            return Ok(Created::AlreadyThere);
        }
        if topic.partitions < 1 {
            let message = "Number of partitions was set to an invalid non-positive value.";
            return Err(refused(ResponseError::InvalidPartitions, message));
        }
        let settings: BTreeMap<String, String> = topic.settings.iter().cloned().collect();
        let settings = read_values("CreateTopics", &topic.name, TOPIC, &settings)?;
        let replicas = usize::try_from(topic.replicas).unwrap_or_default();
        let partitions = self.place(&topic.name, 0..count(topic.partitions), replicas)?;
        self.change().topics.insert(topic.name.clone(), SimTopic { settings, partitions });
        Ok(Created::New)
    }

    fn change_topic(&mut self, name: &str, change: &TopicChange) -> Result<bool, Error> {
        let Some(topic) = self.metadata.topics.get(name).cloned() else { return Ok(false) };
        let read = |it| read_values("IncrementalAlterConfigs", name, TOPIC, it);
        let settings = change.settings.as_ref().map(read).transpose()?;
        let there = topic.partitions.len();
        let wanted = change.partitions.map_or(there, count);
        if wanted < there {
            let message = format!(
                "The topic {name} currently has {there} partition(s); {wanted} would not be an increase."
            );
            let code = ResponseError::InvalidPartitions;
            return Err(refusal("CreatePartitions", name, code, &message));
        }
        let new = self.place(name, there..wanted, topic.partitions[0].replicas.len())?;
        let changed = self.change().topics.get_mut(name).expect("it was there");
        changed.partitions.extend(new);
        if let Some(mut settings) = settings {
            let ours = topic.settings.into_iter().filter(|(name, _)| is_ours(name));
            settings.extend(ours);
            self.set_topic(name, settings);
        }
        Ok(true)
    }

    /// Replicas go round the brokers from one that chance picks, as Kafka's do.
    fn place(
        &mut self,
        name: &str,
        numbers: std::ops::Range<usize>,
        copies: usize,
    ) -> Result<Vec<Partition>, Error> {
        let brokers = self.metadata.brokers.keys();
        let is_open = |id: &i32| self.metadata.is_active(*id) && !self.metadata.is_cordoned(*id);
        let active: Vec<i32> = brokers.copied().filter(is_open).collect();
        if !numbers.is_empty() && (copies == 0 || copies > active.len()) {
            let message = format!(
                "Unable to replicate the partition {copies} time(s): only {} broker(s) are registered.",
                active.len()
            );
            let code = ResponseError::InvalidReplicationFactor;
            return Err(refusal("CreateTopics", name, code, &message));
        }
        let first = self.roll(active.len());
        let partition = |index: usize| {
            let from = (first + index) % active.len();
            let replicas: Vec<i32> =
                active.iter().cycle().skip(from).take(copies).copied().collect();
            Partition::new(replicas)
        };
        let partitions: Vec<Partition> = numbers.clone().map(partition).collect();
        for (index, partition) in numbers.zip(&partitions) {
            let copies = self.copies.entry((name.to_owned(), index)).or_default();
            copies.logs = partition.replicas.iter().map(|id| (*id, Vec::new())).collect();
        }
        Ok(partitions)
    }
}

fn count(partitions: i32) -> usize {
    usize::try_from(partitions).unwrap_or_default()
}
