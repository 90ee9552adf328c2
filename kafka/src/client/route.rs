//! Who is asked for what only one broker can answer: the leader of a partition,
//! or the coordinator of a group.
//!
//! Any live broker knows all leaders: Metadata on the internal listener gives
//! each broker's endpoint there. What nobody leads has no way to it. Where an answer
//! says of each partition what is known, such a one is left out and no error; where
//! it would look as if it were all, it is one.

use super::admin::routes::{FindRoutes, Routes};
use super::ask::Brokers;
use super::{Broker, Call, Error, none_answered};
use futures::future::join_all;
use std::collections::BTreeMap;

/// One partition of one topic.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TopicPartition {
    pub topic: String,
    pub partition: i32,
}

impl TopicPartition {
    pub fn new(topic: impl Into<String>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }
}

impl std::fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

impl Brokers<'_> {
    /// The brokers that live, and who leads the partitions of these topics.
    pub(super) async fn routes(&self, topics: &[String]) -> Result<Routes, Error> {
        self.ask(&FindRoutes { topics }).await
    }

    /// Asks one broker, and never longer than one call may take, however many
    /// requests it is made of.
    pub(super) async fn ask_at<C: Call>(
        &self,
        broker: &Broker,
        call: &C,
    ) -> Result<C::Answer, Error> {
        let within = self.limits.call;
        if let Ok(answer) = tokio::time::timeout(within, self.ask_one(broker, call)).await {
            return answer;
        }
        // `ask_one` was cut off before it could note that for the next call.
        self.shun(broker);
        Err(Error::Deadline {
            endpoint: broker.endpoint.clone(),
            call: "all that was asked".to_owned(),
            after: within,
        })
    }

    /// Asks all of them at once. One that is not there is left out; what one of
    /// them says in Kafka's words is an error, and so is the silence of all.
    pub(super) async fn ask_each<C: Call>(
        &self,
        calls: Vec<(Broker, C)>,
    ) -> Result<Vec<C::Answer>, Error> {
        let asked = calls.len();
        let each = calls.iter().map(|(broker, call)| self.ask_at(broker, call));
        let (mut answers, mut last) = (Vec::new(), None);
        for answer in join_all(each).await {
            match answer {
                Ok(answer) => answers.push(answer),
                Err(error @ Error::Kafka { .. }) => return Err(error),
                Err(error) if error.is_about_one_broker() => {
                    tracing::debug!(%error, "going on without one broker");
                    last = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if answers.is_empty() && asked > 0 {
            return Err(none_answered(last, asked));
        }
        Ok(answers)
    }

    /// Asks all of them at once, and needs all of them: without one, what the others
    /// tell would look whole. `without` says what it would be.
    pub(super) async fn ask_every<C: Call>(
        &self,
        calls: Vec<(Broker, C)>,
        without: impl Fn(&[&(Broker, C)]) -> String + Send,
    ) -> Result<Vec<C::Answer>, Error> {
        let each = calls.iter().map(|(broker, call)| self.ask_at(broker, call));
        let answered = join_all(each).await;
        let (mut answers, mut missing, mut last) = (Vec::new(), Vec::new(), None);
        for (call, answer) in calls.iter().zip(answered) {
            match answer {
                Ok(answer) => answers.push(answer),
                Err(error @ Error::Kafka { .. }) => return Err(error),
                Err(error) if error.is_about_one_broker() => {
                    missing.push(call);
                    last = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        let Some(last) = last else { return Ok(answers) };
        if answers.is_empty() {
            return Err(none_answered(Some(last), calls.len()));
        }
        Err(Error::Incomplete { what: without(&missing), last: Box::new(last) })
    }
}

impl Routes {
    /// The partitions that somebody leads, by who does.
    pub(super) fn by_leader<'a>(
        &self,
        partitions: impl IntoIterator<Item = &'a TopicPartition>,
    ) -> BTreeMap<Broker, Vec<&'a TopicPartition>> {
        let mut led: BTreeMap<Broker, Vec<_>> = BTreeMap::new();
        for partition in partitions {
            if let Some(leader) = self.leader(partition) {
                led.entry(leader.clone()).or_default().push(partition);
            }
        }
        led
    }

    /// Where the partition's leader listens, if it has one that lives.
    pub(super) fn leader(&self, at: &TopicPartition) -> Option<&Broker> {
        let leader = self.topics.get(&at.topic)?.get(&at.partition)?.as_ref()?;
        self.brokers.get(leader)
    }
}
