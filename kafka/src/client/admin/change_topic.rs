//! A topic's partitions and settings: CreatePartitions and
//! IncrementalAlterConfigs, each tried before either is done.

use super::configs::{Changes, Mode, Of, alter};
use super::list_topics::ListTopics;
use super::topic_name;
use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, Topic, TopicChange};
use async_trait::async_trait;
use kafka_protocol::messages::CreatePartitionsRequest;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;

/// Everything of the change or, where Kafka refuses a part, nothing.
pub struct ChangeTopic<'a> {
    pub name: &'a str,
    pub change: &'a TopicChange,
}

#[async_trait]
impl Call for ChangeTopic<'_> {
    /// False if there is no such topic.
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let Some(topic) = self.find(connection).await? else { return Ok(false) };
        let (settings, grow) = (self.changes(&topic), self.grow(&topic));
        for mode in [Mode::Try, Mode::Do] {
            alter(connection, Of::Topic(self.name), &settings, mode).await?;
            if let Some(count) = grow {
                self.create_partitions(connection, count, mode).await?;
            }
        }
        let what = format!("the change of topic {}", self.name);
        until_readable(connection, &what, &Shows(self)).await?;
        Ok(true)
    }
}

impl ChangeTopic<'_> {
    async fn find(&self, connection: &mut Connection) -> Result<Option<Topic>, Error> {
        let found = ListTopics { names: Some(&[self.name.to_owned()]) }.run(connection).await?;
        Ok(found.into_iter().next())
    }

    /// What differs from what shall be set.
    fn changes(&self, topic: &Topic) -> Changes {
        let Some(wanted) = &self.change.settings else { return Changes::new() };
        let is = |name: &str| topic.settings.iter().find(|setting| setting.name == name);
        let gone = topic.settings.iter().filter(|it| !wanted.contains_key(&it.name));
        let new = wanted.iter().filter(|(name, value)| is(name).map(|it| &it.value) != Some(value));
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

struct Shows<'a>(&'a ChangeTopic<'a>);

#[async_trait]
impl Call for Shows<'_> {
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let Some(topic) = self.0.find(connection).await? else { return Ok(true) };
        let led = topic.partitions.iter().all(|partition| partition.leader.is_some());
        let asked = self.0.grow(&topic).is_none() && self.0.changes(&topic).is_empty();
        Ok(asked && (led || self.0.change.partitions.is_none()))
    }
}
