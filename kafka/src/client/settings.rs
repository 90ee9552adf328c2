//! Settings of all brokers that can change while they run.

use super::admin::configs::{Changes, Mode, Of, alter, describe};
use super::ask::until_readable;
use super::{Call, Cluster, Connection, Error, ProtocolAdmin, Setting};
use async_trait::async_trait;

#[async_trait]
pub trait Settings: Send + Sync {
    /// What is set for all brokers while they run, by name.
    async fn describe_settings(&self, cluster: &Cluster) -> Result<Vec<Setting>, Error>;

    /// Fails where Kafka would refuse the changes; changes nothing.
    async fn check_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error>;

    /// All of the changes or none. On return the broker that was asked shows
    /// them.
    async fn change_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error>;
}

#[async_trait]
impl Settings for ProtocolAdmin {
    async fn describe_settings(&self, cluster: &Cluster) -> Result<Vec<Setting>, Error> {
        self.ask(cluster, &DescribeSettings).await
    }

    async fn check_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error> {
        self.ask(cluster, &ChangeSettings { changes, mode: Mode::Try }).await
    }

    async fn change_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error> {
        self.ask(cluster, &ChangeSettings { changes, mode: Mode::Do }).await
    }
}

pub(super) struct DescribeSettings;

#[async_trait]
impl Call for DescribeSettings {
    type Answer = Vec<Setting>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Setting>, Error> {
        let found = describe(connection, &[Of::Brokers]).await?;
        Ok(found.into_values().next().unwrap_or_default())
    }
}

pub(super) struct ChangeSettings<'a> {
    pub changes: &'a Changes,
    pub mode: Mode,
}

#[async_trait]
impl Call for ChangeSettings<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        alter(connection, Of::Brokers, self.changes, self.mode).await?;
        match self.mode {
            Mode::Try => Ok(()),
            Mode::Do => until_readable(connection, "the settings", &Shows(self.changes)).await,
        }
    }
}

struct Shows<'a>(&'a Changes);

#[async_trait]
impl Call for Shows<'_> {
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let found = DescribeSettings.run(connection).await?;
        let value = |name: &str| found.iter().find(|it| it.name == name).map(|it| &it.value);
        Ok(self.0.iter().all(|(name, wanted)| value(name) == wanted.as_ref()))
    }
}
