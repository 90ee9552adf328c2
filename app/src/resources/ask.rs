//! Asking a cluster, for as long as its servers may be changing.

use crate::access::{on_servers_of_its_own, ready};
use crate::{App, Error, InstanceAccess, Result};
use futures::future::join_all;
use kafka::client::{Admin, Error as KafkaError, LogDir, Remedy};
use model::Server;
use std::time::Duration;
use store::servers;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Servers hear of a change from each other within moments.
const SOON: Duration = Duration::from_millis(20);
const SHOWN: Duration = Duration::from_secs(2);
/// For one server's word of itself.
const ALONE: Duration = Duration::from_secs(3);

/// Between two rounds in which no broker gave an answer.
const PAUSE: Duration = Duration::from_millis(250);

/// Every question has a tenth of the caller's patience to itself: one that comes late,
/// after a change that was made, must not have it look refused.
const TENTH: u32 = 10;

/// A cluster that is ready, as a caller may ask it: once or several times, all before
/// one deadline.
pub(crate) struct Cluster<'a> {
    admin: &'a dyn Admin,
    brokers: kafka::client::Cluster,
    servers: Vec<Server>,
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
        let brokers = app.reach().cluster(instance.id, &servers).await.map_err(unreachable)?;
        Ok(Self { admin: app.reach().admin(), brokers, servers, patience, deadline })
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
        let deadline = self.deadline.max(Instant::now() + self.patience / TENTH);
        let mut reason = None;
        while let Ok(answer) = timeout_at(deadline, call(self.admin, &self.brokers)).await {
            match answer {
                Err(error) if may_pass(&error) => reason = Some(error),
                Err(error) => return Err(refused(&error)),
                Ok(answer) => return Ok(answer),
            }
            if Instant::now() + PAUSE >= deadline {
                break;
            }
            sleep(PAUSE).await;
        }
        Err(self.silent(reason.as_ref()))
    }

    pub fn servers(&self) -> usize {
        self.servers.iter().filter(|server| server.is_broker()).count()
    }

    /// What each server that answers has on its disks, side by side: one that
    /// does not is left out soon.
    pub async fn log_dirs(&self) -> Vec<(&Server, Vec<LogDir>)> {
        let asked = self.servers.iter().map(|server| async move {
            let alone = self.brokers.through(&(&server.listeners.internal).into());
            let told = timeout(ALONE, self.admin.describe_log_dirs(&alone)).await;
            told.ok().and_then(std::result::Result::ok).map(|directories| (server, directories))
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Waits until every server that answers shows a change, for some seconds at
    /// most: whoever asks next may be answered by another than who made it.
    pub async fn until_all_show<'b, F>(
        &'b self,
        shows: impl Fn(&'b dyn Admin, kafka::client::Cluster) -> F,
    ) where
        F: Future<Output = std::result::Result<bool, KafkaError>>,
    {
        let shows = &shows;
        let asked = self.servers.iter().map(|server| {
            let alone = self.brokers.through(&(&server.listeners.internal).into());
            timeout(SHOWN, async move {
                // One that fails is being restarted, and starts with what was changed.
                while matches!(shows(self.admin, alone.clone()).await, Ok(false)) {
                    sleep(SOON).await;
                }
            })
        });
        join_all(asked).await;
    }

    fn silent(&self, reason: Option<&KafkaError>) -> Error {
        if let Some(reason) = reason.filter(|reason| reason.lacks_brokers()) {
            return Error::Refused(format!("{reason}; servers are away, try again later"));
        }
        let seconds = self.patience.as_secs();
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        Error::Refused(format!(
            "No broker of the cluster gave an answer within {seconds} s{reason}; try again later"
        ))
    }
}

/// In Kafka's own words.
fn refused(error: &KafkaError) -> Error {
    Error::Refused(error.to_string())
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

/// Whether it is a matter of moments: a server restarts, or the controller moves.
fn may_pass(error: &KafkaError) -> bool {
    error.remedy() == Remedy::Retry || error.lacks_brokers()
}
