//! Settings of all brokers that can change while they run.

mod several;

#[cfg(test)]
pub(super) use several::{ChangeSome, DescribeSome};

use super::admin::configs::{Changes, Mode, Of, alter, describe};
use super::ask::until_readable;
use super::{Call, Cluster, Connection, Error, ProtocolAdmin, Setting};
use async_trait::async_trait;
use std::collections::BTreeMap;

#[async_trait]
pub trait Settings: Send + Sync {
    /// What is set for all brokers while they run, by name.
    async fn describe_settings(&self, cluster: &Cluster) -> Result<Vec<Setting>, Error>;

    /// Fails where Kafka would refuse the changes; changes nothing.
    async fn check_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error>;

    /// All of the changes or none. On return the broker that was asked shows
    /// them.
    async fn change_settings(&self, cluster: &Cluster, changes: &Changes) -> Result<(), Error>;

    /// What is set for each of these alone. What does not exist is not in the answer, nor is a
    /// broker that is not in `cluster` or does not answer: each tells its own.
    async fn describe_settings_of(
        &self,
        cluster: &Cluster,
        of: &[SettingsOf],
    ) -> Result<BTreeMap<SettingsOf, Vec<Setting>>, Error>;

    /// Changes settings of many things in requests of a bounded size: of each all or nothing.
    /// Only a broker itself changes its own, so one that is down is refused with a remedy of
    /// [`Remedy::Retry`](super::Remedy). On return the broker that was asked shows what is done.
    async fn change_settings_of(
        &self,
        cluster: &Cluster,
        changes: &BTreeMap<SettingsOf, Changes>,
    ) -> Result<ChangedSettings, Error>;
}

/// What settings are of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SettingsOf {
    Topic(String),
    /// One broker alone.
    Broker(i32),
    /// All brokers, as opposed to each: the cluster's defaults.
    Brokers,
}

#[derive(Clone, Default, PartialEq, Debug)]
pub struct ChangedSettings {
    pub done: Vec<SettingsOf>,
    /// Why not, each with its remedy. A topic that is gone is here.
    pub refused: Vec<(SettingsOf, Error)>,
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

    async fn describe_settings_of(
        &self,
        cluster: &Cluster,
        of: &[SettingsOf],
    ) -> Result<BTreeMap<SettingsOf, Vec<Setting>>, Error> {
        several::describe_of(self, cluster, of).await
    }

    async fn change_settings_of(
        &self,
        cluster: &Cluster,
        changes: &BTreeMap<SettingsOf, Changes>,
    ) -> Result<ChangedSettings, Error> {
        several::change_of(self, cluster, changes).await
    }
}

impl SettingsOf {
    fn as_of(&self) -> Of<'_> {
        match self {
            Self::Topic(name) => Of::Topic(name),
            Self::Broker(id) => Of::Broker(*id),
            Self::Brokers => Of::Brokers,
        }
    }
}

pub(super) struct DescribeSettings;

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

impl Call for ChangeSettings<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        alter(connection, Of::Brokers, self.changes, self.mode).await?;
        if self.mode == Mode::Try {
            return Ok(());
        }
        let is_shown_by = |present: Vec<Setting>| differing(&present, self.changes).is_empty();
        until_readable(connection, "the settings", &DescribeSettings, is_shown_by).await
    }
}

/// Those of the changes that change anything.
pub fn differing(present: &[Setting], changes: &Changes) -> Changes {
    let value = |name: &str| present.iter().find(|it| it.name == name).map(|it| &it.value);
    let differs = |(name, wanted): &(&String, &Option<String>)| value(name) != wanted.as_ref();
    let of = |(name, wanted): (&String, &Option<String>)| (name.clone(), wanted.clone());
    changes.iter().filter(differs).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::SettingKind;

    #[test]
    fn what_is_so_already_is_no_change() {
        let setting = |name: &str, value: &str| Setting {
            name: name.into(),
            value: value.into(),
            kind: SettingKind::Text,
        };
        let present = [setting("min.insync.replicas", "2"), setting("log.retention.ms", "1")];
        let check = |changes: &[(&str, Option<&str>)], expected: &[&str]| {
            let changes: Changes = changes
                .iter()
                .map(|(name, value)| ((*name).into(), value.map(str::to_owned)))
                .collect();
            let found: Vec<String> = differing(&present, &changes).into_keys().collect();
            assert_eq!(found, expected, "{changes:?}");
        };
        check(
            &[("min.insync.replicas", Some("2")), ("log.retention.ms", Some("9"))],
            &["log.retention.ms"],
        );
        check(&[("min.insync.replicas", None), ("num.io.threads", None)], &["min.insync.replicas"]);
        check(&[("num.io.threads", Some("5"))], &["num.io.threads"]);
    }
}
