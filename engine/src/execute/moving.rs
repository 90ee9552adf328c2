//! Carries out what the mover says. Which partitions and where to follows from the look alone,
//! so a control plane that takes over goes on with what is left.

use super::voters::changed;
use crate::pass::{Done, Pass};
use crate::world::{Placed, World};
use crate::{Engine, PassError};
use cloud::Remedy;
use kafka::client::{
    Altered, Assignment, ChangedSettings, Changes, Cluster, Error, SettingsOf, TopicPartition,
};
use kafka::throttle::{Copies, rate, throttle, unthrottle};
use model::condition::Moving;
use model::{Reason, ResizeMemory};
use mover::{Move, Next, PartitionName};
use std::collections::BTreeMap;
use std::time::Duration;
use store::resizes;

/// Clients find the leaders that have moved, and followers fetch from them.
const BREATH: Duration = Duration::from_millis(200);
/// Kafka moved none of the leaders it was asked to.
pub(super) const LATER: Duration = Duration::from_secs(1);

impl Engine {
    pub(super) async fn move_replicas(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let Some(placed) = world.placed() else { return Ok(Done::Progress) };
        let servers = world.running_first();
        let cluster = self.reach.cluster(world.instance.id, &servers).await?;
        match &placed.next {
            Next::MendElr(stale) => {
                let topics = stale.iter().map(|it| &*it.topic);
                self.mend(pass, world, placed, &cluster, topics.collect()).await
            }
            Next::Cancel(names) => {
                let all: Vec<TopicPartition> = names.iter().map(at).collect();
                self.look_at_lease(pass).await?;
                let call = self.reach.admin().placement().cancel_reassignments(&cluster, &all);
                Ok(altered(call.await))
            }
            Next::SetMinIsr(all) => {
                self.remember_lowered(pass, world, placed, all).await?;
                let changes = all.iter().map(|it| own_min_isr(&it.topic, Some(it.to)));
                self.change_settings(pass, &cluster, changes.collect()).await
            }
            Next::Reassign(moves) => self.reassign(pass, placed, &cluster, moves).await,
            Next::ElectLeaders(names) => self.elect(pass, world, &cluster, names).await,
            Next::Wait(_) | Next::Done => Ok(Done::Progress),
        }
    }

    /// The throttle is there before the first byte is copied.
    async fn reassign(
        &self,
        pass: &Pass,
        placed: &Placed,
        cluster: &Cluster,
        moves: &[Move],
    ) -> Result<Done, PassError> {
        let mut slower = throttle(&copies(moves), placed.rate);
        // A broker that is down can't be told, and sends nothing.
        slower.retain(|of, _| !matches!(of, SettingsOf::Broker(node) if !placed.is_up(*node)));
        if let failed @ Done::Failed { .. } = self.change_settings(pass, cluster, slower).await? {
            return Ok(failed);
        }
        let to: Vec<Assignment> = moves
            .iter()
            .map(|it| Assignment { at: at(&it.partition), replicas: it.to.clone() })
            .collect();
        self.look_at_lease(pass).await?;
        Ok(altered(self.reach.admin().placement().reassign(cluster, &to).await))
    }

    async fn elect(
        &self,
        pass: &Pass,
        world: &World,
        cluster: &Cluster,
        names: &[PartitionName],
    ) -> Result<Done, PassError> {
        let reason = moving(world);
        let few: Vec<TopicPartition> = names.iter().map(at).collect();
        self.look_at_lease(pass).await?;
        Ok(match self.reach.admin().elect_preferred_leaders(cluster, &few).await {
            Ok(elected) if elected.moved.is_empty() => Done::Wait { reason, after: LATER },
            Ok(_) => Done::Wait { reason, after: BREATH },
            Err(error) => {
                let reason = Reason::LeadersPending { error: error.to_string() };
                Done::Wait { reason, after: LATER }
            }
        })
    }

    /// Another throttle for what is copied now.
    pub(super) async fn adjust_throttle(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let Some(placed) = world.placed() else { return Ok(Done::Progress) };
        let is_slowed = |it: &&kafka::client::PlacedBroker| {
            it.is_up() && it.own.as_ref().is_some_and(|own| own.throttle.is_some())
        };
        let brokers = placed.view.brokers.iter().filter(is_slowed);
        let brokers: Vec<i32> = brokers.map(|broker| broker.id).collect();
        let cluster = self.reach.cluster(world.instance.id, &world.running_first()).await?;
        self.change_settings(pass, &cluster, rate(&brokers, placed.rate)).await
    }

    pub(super) async fn end_throttles(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let Some(placed) = world.placed() else { return Ok(Done::Progress) };
        let cluster = self.reach.cluster(world.instance.id, &world.running_first()).await?;
        self.change_settings(pass, &cluster, unthrottle(&placed.view)).await
    }

    /// A topic that is gone needs no settings.
    pub(super) async fn change_settings(
        &self,
        pass: &Pass,
        cluster: &Cluster,
        changes: BTreeMap<SettingsOf, Changes>,
    ) -> Result<Done, PassError> {
        if changes.is_empty() {
            return Ok(Done::Changed);
        }
        self.look_at_lease(pass).await?;
        let answer = self.reach.admin().settings().change_settings_of(cluster, &changes).await;
        Ok(match answer {
            Ok(ChangedSettings { refused, .. }) => {
                let mut refused =
                    refused.into_iter().filter(|(_, error)| !error.is_unknown_topic());
                changed(refused.next().map_or(Ok(()), |(_, error)| Err(error)))
            }
            Err(error) => changed::<()>(Err(error)),
        })
    }

    /// Saves what the resize must not forget, as it is by now.
    pub(super) async fn remember(
        &self,
        pass: &Pass,
        world: &World,
        change: impl FnOnce(&mut ResizeMemory),
    ) -> Result<(), PassError> {
        let id = world.instance.id;
        let mut work = self.guarded(pass).await?;
        if let Some(mut resize) = resizes::find(&mut work, id).await? {
            change(&mut resize.memory);
            resizes::set_memory(&mut work, id, &resize.memory).await?;
        }
        Ok(work.commit().await?)
    }
}

fn copies(moves: &[Move]) -> Vec<Copies> {
    let copied = moves.iter().filter(|it| it.added().next().is_some());
    copied
        .map(|it| Copies { at: at(&it.partition), from: it.from.clone(), to: it.added().collect() })
        .collect()
}

pub(super) fn at(name: &PartitionName) -> TopicPartition {
    TopicPartition::new(&*name.topic, name.index)
}

/// The conditions while leaders move, which is soon done.
fn moving(world: &World) -> Reason {
    let known = world.resize.as_ref().and_then(|resize| resize.progress);
    let moving = known.map_or_else(Moving::default, |known| Moving {
        partitions: 0,
        bytes_done: known.bytes_done,
        bytes_left: known.bytes_left,
        ready_at: known.ready_at,
    });
    Reason::Moving { moving }
}

/// A topic's own min ISR; none: that of the cluster holds.
pub(super) fn own_min_isr(topic: &str, value: Option<usize>) -> (SettingsOf, Changes) {
    let value = value.map(|value| value.to_string());
    let changes = Changes::from([(kafka::settings::MIN_IN_SYNC.to_owned(), value)]);
    (SettingsOf::Topic(topic.to_owned()), changes)
}

/// What some partitions were refused is found again in the next look.
fn altered(answer: Result<Altered, Error>) -> Done {
    match answer {
        Ok(Altered { done, refused }) if done.is_empty() => {
            let mut refused = refused.into_iter().filter(|(_, error)| !error.is_unknown_topic());
            match refused.next() {
                Some((at, error)) => {
                    let reason = format!("{at}: {error}");
                    Done::Failed { reason, remedy: Remedy::Retry }
                }
                None => Done::Changed,
            }
        }
        other => changed(other),
    }
}
