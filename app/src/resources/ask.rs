//! Asking a cluster, for as long as its servers may be changing.

use super::StaleBrokers;
use super::repeat::repeat;
use super::unanswered::{refused, unknown};
use crate::access::{on_servers_of_its_own, ready};
use crate::{App, Error, InstanceAccess, Result};
use futures::future::join_all;
use kafka::client::{Admin, Broker, Error as KafkaError, LogDir, graver, made, none_answered};
use model::{Membership, Server};
use std::time::Duration;
use store::servers;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Servers hear of a change from each other within moments.
const SOON: Duration = Duration::from_millis(20);
const SHOWN: Duration = Duration::from_secs(2);
/// Between two looks for a server that shows a change.
const PAUSE: Duration = Duration::from_millis(100);
/// For one server's word of itself.
const ALONE: Duration = Duration::from_secs(3);

/// Every question has a tenth of the caller's patience to itself: one that comes late,
/// after a change that was made, must not have it look refused.
const TENTH: u32 = 10;

/// Of it, to look whether a change was made that nobody confirmed.
const TWENTIETH: u32 = 20;

/// Of the caller's patience, for leaders. It is longer than Kafka takes to elect new
/// leaders of the partitions that a dead server led; where no replica can be elected, it
/// may take hours.
const HALF: u32 = 2;

/// A cluster that is ready, as a caller may ask it: once or several times, all before
/// one deadline.
pub(crate) struct Cluster<'a> {
    admin: &'a dyn Admin,
    /// Brokers that did not show a change when this was opened come last.
    brokers: kafka::client::Cluster,
    stale_brokers: &'a StaleBrokers,
    servers: Vec<Server>,
    /// Servers that join: no call waits for them, since they may never come up.
    joining: Vec<Server>,
    patience: Duration,
    deadline: Instant,
}

impl<'a> Cluster<'a> {
    /// Fails unless the instance is ready: nobody waits for a cluster that is
    /// being made.
    pub async fn open(access: &InstanceAccess, app: &'a App) -> Result<Self> {
        let patience = app.settings.broker_patience;
        let deadline = Instant::now() + patience;
        let instance = &access.instance;
        ready(instance)?;
        let servers = servers::list_bare(&mut app.store().reader(), instance.id).await?;
        let (joining, servers): (Vec<Server>, Vec<Server>) =
            servers.into_iter().partition(|server| server.membership == Membership::Joining);
        let mut brokers = app.reach().cluster(instance.id, &servers).await.map_err(unreachable)?;
        let (admin, stale_brokers) = (app.reach().admin(), app.stale_brokers());
        stale_brokers.last(&mut brokers, Instant::now().into_std());
        Ok(Self { admin, brokers, stale_brokers, servers, joining, patience, deadline })
    }

    /// The same, before the same deadline. Brokers that did not show a change by now are asked
    /// last.
    #[must_use]
    pub fn after_change(&self) -> Self {
        let (servers, joining) = (self.servers.clone(), self.joining.clone());
        let mut brokers = self.brokers.clone();
        self.stale_brokers.last(&mut brokers, Instant::now().into_std());
        Self { brokers, servers, joining, ..*self }
    }

    /// Whether what a broker shows may be older than a change that was made. Then a call
    /// that seems to change nothing is sent nevertheless.
    pub fn may_show_old(&self) -> bool {
        self.stale_brokers.has_any_of(&self.brokers, Instant::now().into_std())
    }

    /// The same, for what customers of a shared plan can't do.
    pub async fn of_its_own(access: &InstanceAccess, app: &'a App) -> Result<Self> {
        on_servers_of_its_own(app, &access.instance)?;
        Self::open(access, app).await
    }

    /// The answer of any broker. While none has one, because servers are being
    /// restarted or the controller moves, they are asked again until the caller's
    /// patience ends, of which all questions take.
    pub async fn ask<'b, T, F>(
        &'b self,
        call: impl Fn(&'b dyn Admin, &'b kafka::client::Cluster) -> F,
    ) -> Result<T>
    where
        F: Future<Output = std::result::Result<T, KafkaError>>,
    {
        let asked = repeat(self.until(), self.patience, move || call(self.admin, &self.brokers));
        asked.await.map_err(|why| why.error(self.patience, ""))
    }

    /// The same where partitions are needed. Partitions without a leader are waited
    /// for a shorter while; `or` says what else can be done then.
    pub async fn ask_leaders<'b, T, F>(
        &'b self,
        or: &str,
        call: impl Fn(&'b dyn Admin, &'b kafka::client::Cluster) -> F,
    ) -> Result<T>
    where
        F: Future<Output = std::result::Result<T, KafkaError>>,
    {
        let short = self.patience / HALF;
        let asked = repeat(self.until(), short, move || call(self.admin, &self.brokers));
        asked.await.map_err(|why| why.error(self.patience, or))
    }

    /// The same for a change. It is repeated until a broker confirms it; one that Kafka
    /// confirmed is made, and the answer is none if that broker does not show it yet. Where
    /// no broker confirms it, whether one broker shows it is looked at once: then it was
    /// made, and the answer is none, too. Otherwise it is unknown, and `see` says how to
    /// find out and what to do.
    pub async fn alter<'b, T, F, S>(
        &'b self,
        see: &str,
        call: impl Fn(&'b dyn Admin, &'b kafka::client::Cluster) -> F,
        shows: impl FnOnce(&'b dyn Admin, &'b kafka::client::Cluster) -> S,
    ) -> Result<Option<T>>
    where
        F: Future<Output = std::result::Result<T, KafkaError>>,
        S: Future<Output = std::result::Result<bool, KafkaError>>,
    {
        let until = self.until();
        let asked = until - self.patience / TWENTIETH;
        let asked = repeat(asked, self.patience, move || {
            let answer = call(self.admin, &self.brokers);
            async move { made(answer.await) }
        });
        match asked.await {
            Ok(answer) => Ok(answer),
            Err(why) if why.perhaps => {
                let seen = timeout_at(until, shows(self.admin, &self.brokers)).await;
                if matches!(seen, Ok(Ok(true))) {
                    return Ok(None);
                }
                Err(unknown(see, why.reason.as_ref()))
            }
            Err(why) => Err(why.error(self.patience, "")),
        }
    }

    /// The same for a change that every server shall show before the answer: the next
    /// question may be answered by another than who made it.
    pub async fn alter_for_all<'b, T, F, S>(
        &'b self,
        see: &str,
        call: impl Fn(&'b dyn Admin, &'b kafka::client::Cluster) -> F,
        shows: impl Fn(&'b dyn Admin, kafka::client::Cluster) -> S,
    ) -> Result<Option<T>>
    where
        F: Future<Output = std::result::Result<T, KafkaError>>,
        S: Future<Output = std::result::Result<bool, KafkaError>>,
    {
        let altered = self.alter(see, call, |admin, at| shows(admin, at.clone())).await?;
        self.until_all_show(shows).await;
        Ok(altered)
    }

    /// By when whatever is asked now must be answered.
    fn until(&self) -> Instant {
        self.deadline.max(Instant::now() + self.patience / TENTH)
    }

    /// Waits so long, unless the caller's patience ends before.
    pub async fn pause(&self, pause: Duration) -> bool {
        let in_time = Instant::now() + pause < self.deadline;
        if in_time {
            sleep(pause).await;
        }
        in_time
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    pub fn servers(&self) -> usize {
        self.servers.iter().filter(|it| it.is_broker() && !it.is_leaving()).count()
    }

    /// What each server that answers has on its disks, side by side: one that
    /// does not is left out soon. Those that are being added are asked as well.
    pub async fn log_dirs(&self) -> Vec<(&Server, Vec<LogDir>)> {
        let asked = self.servers.iter().chain(&self.joining).map(|server| async move {
            let alone = self.brokers.through(&Broker::internal(server));
            let reply = timeout(ALONE, self.admin.describe_log_dirs(&alone)).await;
            reply.ok().and_then(std::result::Result::ok).map(|directories| (server, directories))
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// What every broker that answers says, asked side by side and each by itself: one
    /// that was away may still read what the others know. While none answers they are
    /// asked again, as by `ask`.
    pub async fn ask_each<'b, T, F>(
        &'b self,
        call: impl Fn(&'b dyn Admin, kafka::client::Cluster) -> F,
    ) -> Result<Vec<T>>
    where
        F: Future<Output = std::result::Result<T, KafkaError>>,
    {
        let call = &call;
        let asked = repeat(self.until(), self.patience, move || self.round(call));
        asked.await.map_err(|why| why.error(self.patience, ""))
    }

    /// Once round all brokers. Who stands still is left out soon.
    async fn round<'b, T, F>(
        &'b self,
        call: &impl Fn(&'b dyn Admin, kafka::client::Cluster) -> F,
    ) -> std::result::Result<Vec<T>, KafkaError>
    where
        F: Future<Output = std::result::Result<T, KafkaError>>,
    {
        let asked = self.brokers.brokers.iter().map(|broker| {
            let alone = self.brokers.through(broker);
            async move {
                let reply = timeout(ALONE, call(self.admin, alone)).await;
                reply.unwrap_or_else(|_| Err(silent(broker)))
            }
        });
        any(join_all(asked).await)
    }

    /// Waits until every server that answers shows a change, for some seconds at most: the
    /// next call may be answered by another broker than the one that made it. The others are
    /// asked last for a while. Where none shows it, as while brokers make thousands of
    /// partitions, the first that does is waited for as long as the caller's patience lasts.
    pub async fn until_all_show<'b, F>(
        &'b self,
        shows: impl Fn(&'b dyn Admin, kafka::client::Cluster) -> F,
    ) where
        F: Future<Output = std::result::Result<bool, KafkaError>>,
    {
        let shows = &shows;
        let asked = self.brokers.brokers.iter().map(|broker| {
            let alone = self.brokers.through(broker);
            async move {
                let knows_it = timeout(SHOWN, async {
                    loop {
                        match shows(self.admin, alone.clone()).await {
                            Ok(false) => sleep(SOON).await,
                            // One that fails is being restarted, and is not waited for.
                            seen => break seen.is_ok(),
                        }
                    }
                });
                let knows_it = knows_it.await == Ok(true);
                if !knows_it {
                    self.stale_brokers
                        .note(broker.key(self.brokers.instance), Instant::now().into_std());
                }
                knows_it
            }
        });
        if !join_all(asked).await.contains(&true) {
            // If none does in time, the change is made all the same.
            let _ = timeout_at(self.deadline, self.until_one_shows(shows)).await;
        }
    }

    async fn until_one_shows<'b, F>(
        &'b self,
        shows: &impl Fn(&'b dyn Admin, kafka::client::Cluster) -> F,
    ) where
        F: Future<Output = std::result::Result<bool, KafkaError>>,
    {
        loop {
            for broker in &self.brokers.brokers {
                if matches!(shows(self.admin, self.brokers.through(broker)).await, Ok(true)) {
                    return self.stale_brokers.forget(broker.key(self.brokers.instance));
                }
            }
            sleep(PAUSE).await;
        }
    }
}

fn silent(broker: &Broker) -> KafkaError {
    KafkaError::Deadline { endpoint: broker.endpoint.clone(), call: "us".to_owned(), after: ALONE }
}

/// The answers, if there is any.
fn any<T>(
    replies: Vec<std::result::Result<T, KafkaError>>,
) -> std::result::Result<Vec<T>, KafkaError> {
    let (asked, mut answers, mut last) = (replies.len(), Vec::new(), None);
    for one in replies {
        match one {
            Ok(answer) => answers.push(answer),
            Err(error) => last = Some(graver(last, error)),
        }
    }
    if answers.is_empty() { Err(none_answered(last, asked)) } else { Ok(answers) }
}

fn unreachable(error: reach::Error) -> Error {
    match error {
        reach::Error::Store(error) => error.into(),
        reach::Error::Kafka(error) => refused(&error),
        // The instance was torn down since the caller was let in.
        reach::Error::NoAuthority(_) => Error::InvalidId,
        reach::Error::Pki(error) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::Endpoint;
    use kafka::client::Identity;
    use kafka::simulated::{SimKafka, Timing};
    use model::{InstanceId, ManualClock, Secret, Timestamp};
    use std::sync::Arc;

    #[tokio::test]
    async fn whoever_did_not_show_a_change_is_asked_after_the_others() {
        let clock = Arc::new(ManualClock::at(Timestamp::UNIX_EPOCH));
        let (kafka, stale_brokers) =
            (SimKafka::new(clock, 1, Timing::default()), StaleBrokers::default());
        let certificate_chain_pem = String::new();
        let identity = Identity { certificate_chain_pem, key_pem: Secret::new("") };
        let cluster = Cluster {
            admin: &kafka,
            brokers: kafka::client::Cluster {
                instance: InstanceId(1),
                brokers: [(1, "a"), (2, "b"), (3, "c")]
                    .map(|(id, host)| Broker::new(id, Endpoint::new(host, 9094)))
                    .into(),
                trust_pem: String::new(),
                identity,
            },
            stale_brokers: &stale_brokers,
            servers: vec![],
            joining: vec![],
            patience: Duration::from_secs(25),
            deadline: Instant::now() + Duration::from_secs(25),
        };
        cluster.until_all_show(|_, _| async { Ok(true) }).await;
        assert_eq!(first(&cluster.after_change()).await, "a", "everybody has shown it");
        cluster
            .until_all_show(|_, alone| async move {
                if alone.brokers[0].endpoint.host == "a" {
                    Err(KafkaError::NoBrokers)
                } else {
                    Ok(true)
                }
            })
            .await;
        assert_eq!(first(&cluster.after_change()).await, "b", "a is being restarted");
    }

    async fn first(cluster: &Cluster<'_>) -> String {
        let asked = cluster.ask(|_, at| async move { Ok(at.brokers[0].endpoint.host.clone()) });
        asked.await.unwrap()
    }
}
