//! A topic's partitions and settings: CreatePartitions and
//! IncrementalAlterConfigs, each tried before either is done.

use super::configs::{Changes, Mode, Of, alter};
use super::list_topics::ListTopics;
use super::topic_name;
use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, Topic, TopicChange};
use kafka_protocol::ResponseError::InvalidPartitions;
use kafka_protocol::messages::CreatePartitionsRequest;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;

/// Everything of the change or, where Kafka refuses a part, nothing.
pub struct ChangeTopic<'a> {
    pub name: &'a str,
    pub change: &'a TopicChange,
}

impl Call for ChangeTopic<'_> {
    /// False if there is no such topic.
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let Some(topic) = self.find(connection).await? else { return Ok(false) };
        match self.change(connection, &topic).await {
            Err(error) if self.is_unread(&topic, &error) => {
                self.until_grown(connection, &topic).await?;
                let Some(topic) = self.find(connection).await? else { return Ok(false) };
                self.change(connection, &topic).await?;
            }
            changed => changed?,
        }
        Ok(true)
    }
}

impl ChangeTopic<'_> {
    /// Makes of the topic what shall be.
    async fn change(&self, connection: &mut Connection, topic: &Topic) -> Result<(), Error> {
        let (settings, grow) = (self.changes(topic), self.grow(topic));
        if settings.is_empty() && grow.is_none() {
            return Ok(());
        }
        for mode in [Mode::Try, Mode::Do] {
            alter(connection, Of::Topic(self.name), &settings, mode).await?;
            if let Some(count) = grow {
                self.create_partitions(connection, count, mode).await?;
            }
        }
        let what = format!("the change of topic {}", self.name);
        let shows = Shows { before: topic, settings: &settings, grow };
        self.until_shown(connection, &what, &shows).await
    }

    /// Waits until the broker lists as many partitions as are wanted. Nothing of this change
    /// may be made yet, so a broker that does not is stale.
    async fn until_grown(&self, connection: &mut Connection, before: &Topic) -> Result<(), Error> {
        let what = format!("how many partitions topic {} has", self.name);
        let (settings, grow) = (Changes::new(), self.grow(before));
        let grown = Shows { before, settings: &settings, grow };
        match self.until_shown(connection, &what, &grown).await {
            Err(Error::NotReadableYet { endpoint, what, .. }) => {
                Err(Error::Stale { endpoint, what })
            }
            grown => grown,
        }
    }

    /// Waits until the broker shows it, or that the topic is gone.
    async fn until_shown(
        &self,
        connection: &mut Connection,
        what: &str,
        shows: &Shows<'_>,
    ) -> Result<(), Error> {
        let question = ListTopics { names: Some(&[self.name.to_owned()]) };
        let is_shown_by = |found: Vec<Topic>| found.iter().all(|topic| shows.is_shown_by(topic));
        until_readable(connection, what, &question, is_shown_by).await
    }

    /// Whether the broker did not know yet that there are more partitions than it told
    /// of: of this very change, which another broker took and did not answer, or of
    /// somebody else's.
    fn is_unread(&self, topic: &Topic, error: &Error) -> bool {
        let there = i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX);
        let refused = matches!(error, Error::Kafka { code, .. } if *code == InvalidPartitions);
        refused && self.grow(topic).is_some_and(|wanted| wanted > there)
    }

    async fn find(&self, connection: &mut Connection) -> Result<Option<Topic>, Error> {
        let found = ListTopics { names: Some(&[self.name.to_owned()]) }.run(connection).await?;
        Ok(found.into_iter().next())
    }

    /// What differs from what shall be set.
    fn changes(&self, topic: &Topic) -> Changes {
        let Some(wanted) = &self.change.settings else { return Changes::new() };
        let is = |name: &str, value: &str| topic.setting(name).is_some_and(|it| it.means(value));
        let gone = topic.settings.iter().filter(|it| !wanted.contains_key(&it.name));
        let new = wanted.iter().filter(|(name, value)| !is(name, value));
        new.map(|(name, value)| (name.clone(), Some(value.clone())))
            .chain(gone.map(|setting| (setting.name.clone(), None)))
            .collect()
    }

    /// The number of partitions to ask for, if it is another.
    fn grow(&self, topic: &Topic) -> Option<i32> {
        let count = i32::try_from(topic.partitions.len()).ok();
        self.change.partitions.filter(|wanted| Some(*wanted) != count)
    }

    async fn create_partitions(
        &self,
        connection: &mut Connection,
        count: i32,
        mode: Mode,
    ) -> Result<(), Error> {
        let topic = CreatePartitionsTopic::default()
            .with_name(topic_name(self.name))
            .with_count(count)
            .with_assignments(None);
        let request = CreatePartitionsRequest::default()
            .with_topics(vec![topic])
            .with_timeout_ms(connection.timeout_ms())
            .with_validate_only(mode == Mode::Try);
        let answer = connection.call(&request).await?;
        for result in &answer.results {
            let message = result.error_message.as_ref();
            check("CreatePartitions", self.name, result.error_code, message)?;
        }
        Ok(())
    }
}

/// Whether a broker shows what was changed. What was not is no matter: somebody else
/// may change it, and a partition that was there may be without a leader for as long
/// as a server is away.
struct Shows<'a> {
    before: &'a Topic,
    settings: &'a Changes,
    grow: Option<i32>,
}

impl Shows<'_> {
    fn is_shown_by(&self, topic: &Topic) -> bool {
        let is_set = |(name, wanted): (&String, &Option<String>)| {
            match (topic.setting(name), wanted) {
                (None, wanted) => wanted.is_none(),
                (Some(_), None) => false,
                // Kafka may have a spelling that nobody here knows: what is no longer
                // what it was has been read, too.
                (Some(is), Some(wanted)) => {
                    is.means(wanted) || self.before.setting(name) != Some(is)
                }
            }
        };
        let there = self.before.partitions.len();
        let is_grown = self.grow.is_none_or(|wanted| {
            let count = i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX);
            let mut new = topic.partitions.iter().skip(there);
            count >= wanted && new.all(|partition| partition.leader.is_some())
        });
        is_grown && self.settings.iter().all(is_set)
    }
}

#[cfg(test)]
mod tests;
