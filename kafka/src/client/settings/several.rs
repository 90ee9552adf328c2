//! Settings of many things at once: topics and the defaults of all brokers by any broker, those
//! of a broker by itself.

use super::{ChangedSettings, SettingsOf};
use crate::client::admin::configs::{Changes, Of, alter_each, describe};
use crate::client::ask::{Call, none_answered, until_readable};
use crate::client::{Cluster, Connection, Error, ProtocolAdmin, Setting};
use std::collections::{BTreeMap, HashMap};

/// Things of one request.
const MOST_AT_ONCE: usize = 200;

type Found = BTreeMap<SettingsOf, Vec<Setting>>;

/// Who is asked for some of them.
fn by_target<'a>(
    cluster: &Cluster,
    all: impl Iterator<Item = &'a SettingsOf>,
) -> Vec<(Option<Cluster>, Vec<&'a SettingsOf>)> {
    let mut targets: BTreeMap<Option<i32>, Vec<&SettingsOf>> = BTreeMap::new();
    for of in all {
        let itself = if let SettingsOf::Broker(id) = of { Some(*id) } else { None };
        targets.entry(itself).or_default().push(of);
    }
    let reach = |itself: Option<i32>| match itself {
        None => Some(cluster.clone()),
        Some(id) => {
            let broker = cluster.brokers.iter().find(|broker| broker.node_id == id);
            broker.map(|broker| cluster.through(broker))
        }
    };
    targets.into_iter().map(|(itself, all)| (reach(itself), all)).collect()
}

pub(super) async fn describe_of(
    admin: &ProtocolAdmin,
    cluster: &Cluster,
    of: &[SettingsOf],
) -> Result<Found, Error> {
    let mut found = Found::new();
    for (target, all) in by_target(cluster, of.iter()) {
        let Some(target) = target else { continue };
        for some in all.chunks(MOST_AT_ONCE) {
            match admin.ask(&target, &DescribeSome(some)).await {
                Err(error) if is_down(some, &error) => {}
                answer => found.extend(answer?),
            }
        }
    }
    Ok(found)
}

pub(super) async fn change_of(
    admin: &ProtocolAdmin,
    cluster: &Cluster,
    changes: &BTreeMap<SettingsOf, Changes>,
) -> Result<ChangedSettings, Error> {
    let mut outcome = ChangedSettings::default();
    let given = changes.iter().filter(|(_, changes)| !changes.is_empty()).map(|(of, _)| of);
    for (target, all) in by_target(cluster, given) {
        for some in all.chunks(MOST_AT_ONCE) {
            let call = ChangeSome(some.iter().map(|of| (*of, &changes[*of])).collect());
            let answer = match &target {
                Some(target) => admin.ask(target, &call).await,
                None => Err(none_answered(None, 0)),
            };
            match answer {
                Ok(ChangedSettings { done, refused }) => {
                    outcome.done.extend(done);
                    outcome.refused.extend(refused);
                }
                Err(error) if is_down(some, &error) => {
                    outcome.refused.extend(some.iter().map(|of| ((*of).clone(), error.clone())));
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(outcome)
}

/// Whether it concerns a single broker that is not there, or not the one that it should be.
fn is_down(some: &[&SettingsOf], error: &Error) -> bool {
    let itself = some.iter().all(|of| matches!(of, SettingsOf::Broker(_)));
    itself && (error.is_about_one_broker() || matches!(error, Error::NoBrokers))
}

/// Of one broker each, or of others than brokers.
pub(in crate::client) struct DescribeSome<'a>(pub &'a [&'a SettingsOf]);

impl Call for DescribeSome<'_> {
    type Answer = Found;

    async fn run(&self, connection: &mut Connection) -> Result<Found, Error> {
        let mut kinds: BTreeMap<i8, Vec<&SettingsOf>> = BTreeMap::new();
        for of in self.0 {
            kinds.entry(of.as_of().source()).or_default().push(of);
        }
        let mut found = Found::new();
        for all in kinds.into_values() {
            let of: Vec<Of> = all.iter().map(|of| of.as_of()).collect();
            let mut settings: HashMap<String, Vec<Setting>> = describe(connection, &of).await?;
            for of in all {
                let settings = settings.remove(of.as_of().name().as_str());
                found.extend(settings.map(|settings| (of.clone(), settings)));
            }
        }
        Ok(found)
    }
}

pub(in crate::client) struct ChangeSome<'a>(pub Vec<(&'a SettingsOf, &'a Changes)>);

impl Call for ChangeSome<'_> {
    type Answer = ChangedSettings;

    async fn run(&self, connection: &mut Connection) -> Result<ChangedSettings, Error> {
        let all: Vec<(Of, &Changes)> =
            self.0.iter().map(|(of, changes)| (of.as_of(), *changes)).collect();
        let outcomes = alter_each(connection, &all).await?;
        let mut changed = ChangedSettings::default();
        let mut done = Vec::new();
        for (&(of, changes), outcome) in self.0.iter().zip(outcomes) {
            match outcome {
                Ok(()) => {
                    changed.done.push(of.clone());
                    done.push((of, changes));
                }
                Err(error) => changed.refused.push((of.clone(), error)),
            }
        }
        let names: Vec<&SettingsOf> = done.iter().map(|(of, _)| *of).collect();
        let shows =
            |found: Found| done.iter().all(|(of, changes)| is_shown(found.get(of), changes));
        until_readable(connection, "the settings", &DescribeSome(&names), shows).await?;
        Ok(changed)
    }
}

/// Whether settings are as they were changed to. What is gone is shown, too.
fn is_shown(settings: Option<&Vec<Setting>>, changes: &Changes) -> bool {
    let Some(settings) = settings else { return true };
    let find = |name: &String| settings.iter().find(|it| it.name == *name);
    changes.iter().all(|(name, wanted)| match (find(name), wanted) {
        (Some(is), Some(wanted)) => is.means(wanted),
        (is, wanted) => is.is_none() && wanted.is_none(),
    })
}
