//! Min ISR while replicas change: of the cluster, of topics whose ELR has to be cleared, and of
//! those that get fewer replicas. What has to be put back is saved before it is changed.

use super::moving::{LATER, own_min_isr};
use crate::pass::{Done, Pass};
use crate::plan::sizing;
use crate::world::{Placed, World};
use crate::{Engine, PassError};
use kafka::client::settings::differing;
use kafka::client::{Changes, Cluster, SettingsOf};
use kafka::settings::MIN_IN_SYNC;
use model::condition::{FirstFew, MoveObstacle};
use model::{Reason, Resize};
use mover::MinIsr;
use std::collections::BTreeMap;

impl Engine {
    /// Setting a topic's min ISR to 1 clears its ELRs at once; then it gets its own back.
    pub(super) async fn mend(
        &self,
        pass: &Pass,
        world: &World,
        placed: &Placed,
        cluster: &Cluster,
        topics: Vec<&str>,
    ) -> Result<Done, PassError> {
        let before = own_values(placed, &topics);
        self.remember(pass, world, |memory| {
            for (topic, value) in &before {
                memory.mended.entry(topic.clone()).or_insert(*value);
            }
        })
        .await?;
        let one = topics.iter().map(|topic| own_min_isr(topic, Some(1)));
        let done = self.change_settings(pass, cluster, one.collect()).await?;
        if let Done::Failed { .. } = done {
            return Ok(done);
        }
        let known = world.resize.iter().flat_map(|resize| resize.memory.mended.clone());
        // Others wait until none of their partitions lacks a leader or replicas in sync.
        let known: Vec<_> = known.filter(|(topic, _)| before.contains_key(topic)).collect();
        self.put_back(pass, cluster, &before.into_iter().chain(known).collect()).await?;
        // What is left is put back by the next turn.
        Ok(Done::Changed)
    }

    pub(super) async fn end_mending(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let Some(resize) = &world.resize else { return Ok(Done::Progress) };
        let cluster = self.reach.cluster(world.instance.id, &world.running_first()).await?;
        let done = self.put_back(pass, &cluster, &resize.memory.mended).await?;
        if let Done::Failed { .. } = done {
            return Ok(done);
        }
        self.remember(pass, world, |memory| memory.mended.clear()).await?;
        Ok(Done::Changed)
    }

    pub(super) async fn put_back_min_isr(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let Some(resize) = &world.resize else { return Ok(Done::Progress) };
        let cluster = self.reach.cluster(world.instance.id, &world.running_first()).await?;
        let due = sizing::lowered_to_put_back(resize);
        let ours = due.clone().into_iter().filter(|(topic, _)| is_ours(world, resize, topic));
        let done = self.put_back(pass, &cluster, &ours.collect()).await?;
        if let Done::Failed { .. } = done {
            return Ok(done);
        }
        self.remember(pass, world, |memory| {
            memory.lowered.retain(|topic, _| !due.contains_key(topic));
            memory.lowered_to.retain(|topic, _| !due.contains_key(topic));
        })
        .await?;
        Ok(Done::Changed)
    }

    async fn put_back(
        &self,
        pass: &Pass,
        cluster: &Cluster,
        topics: &BTreeMap<String, Option<u32>>,
    ) -> Result<Done, PassError> {
        let value = |value: &Option<u32>| value.map(|value| value as usize);
        let changes = topics.iter().map(|(topic, before)| own_min_isr(topic, value(before)));
        self.change_settings(pass, cluster, changes.collect()).await
    }

    /// The topics' own min ISR, unless it is known from an earlier lowering. Those that lose
    /// replicas because the change is undone keep the lower one.
    pub(super) async fn remember_lowered(
        &self,
        pass: &Pass,
        world: &World,
        placed: &Placed,
        changes: &[MinIsr],
    ) -> Result<(), PassError> {
        let is_undone = world.resize.as_ref().is_some_and(|resize| resize.undo);
        let keeps = |it: &&MinIsr| is_undone && loses_replicas(placed, &it.topic);
        let lowered = changes.iter().filter(|it| it.to < it.from && !keeps(it));
        let lowered: Vec<&MinIsr> = lowered.collect();
        if lowered.is_empty() {
            return Ok(());
        }
        let topics: Vec<&str> = lowered.iter().map(|it| &*it.topic).collect();
        let before = own_values(placed, &topics);
        self.remember(pass, world, |memory| {
            for (topic, value) in before {
                memory.lowered.entry(topic).or_insert(value);
            }
            for it in lowered {
                let to = u32::try_from(it.to).unwrap_or(u32::MAX);
                memory.lowered_to.insert(it.topic.to_string(), to);
            }
        })
        .await
    }

    /// Only if it is another: told of a min ISR, be it the same, Kafka forgets who may lead.
    pub(super) async fn set_min_isr(
        &self,
        pass: &Pass,
        world: &World,
        wanted: u32,
    ) -> Result<Done, PassError> {
        let cluster = self.reach.cluster(world.instance.id, &world.running_first()).await?;
        let settings = self.reach.admin().settings();
        let now = match settings.describe_settings_of(&cluster, &[SettingsOf::Brokers]).await {
            Ok(mut now) => now.remove(&SettingsOf::Brokers).unwrap_or_default(),
            Err(error) => return Ok(super::voters::changed::<()>(Err(error))),
        };
        let wish = Changes::from([(MIN_IN_SYNC.to_owned(), Some(wanted.to_string()))]);
        let changes = differing(&now, &wish);
        let leaderless = leaderless(world);
        if !changes.is_empty() && !leaderless.is_empty() {
            let reason = Reason::MoveBlocked { obstacles: FirstFew::few(leaderless) };
            return Ok(Done::Wait { reason, after: LATER });
        }
        let changes: BTreeMap<SettingsOf, Changes> =
            (!changes.is_empty()).then_some((SettingsOf::Brokers, changes)).into_iter().collect();
        self.remember(pass, world, |memory| memory.min_isr_asked = Some(wanted)).await?;
        let done = self.change_settings(pass, &cluster, changes).await?;
        if let Done::Failed { .. } = done {
            return Ok(done);
        }
        self.remember(pass, world, |memory| {
            (memory.min_isr, memory.min_isr_asked) = (Some(wanted), None);
        })
        .await?;
        Ok(Done::Changed)
    }

    /// The most of each topic's partitions.
    pub(super) async fn note_replicas(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let Some(placed) = world.placed() else { return Ok(Done::Progress) };
        let mut before: BTreeMap<String, u32> = BTreeMap::new();
        for one in placed.plan.moves.iter().filter(|it| it.to.len() < it.from.len()) {
            let most = before.entry(one.partition.topic.to_string()).or_default();
            *most = (*most).max(u32::try_from(one.from.len()).unwrap_or(u32::MAX));
        }
        self.remember(pass, world, |memory| {
            for (topic, replicas) in before {
                memory.replicas.entry(topic).or_insert(replicas);
            }
        })
        .await?;
        Ok(Done::Progress)
    }
}

/// Partitions that need their ELR to have a leader again.
fn leaderless(world: &World) -> Vec<MoveObstacle> {
    let partitions = world.placed().into_iter().flat_map(|placed| &placed.cluster.partitions);
    let leaderless = partitions.filter(|partition| partition.leader.is_none());
    leaderless.map(|it| MoveObstacle::NoLeader { partition: it.name().to_string() }).collect()
}

/// Whether the topic's min ISR is the one that it was lowered to.
fn is_ours(world: &World, resize: &Resize, topic: &str) -> bool {
    let now = world.placed().and_then(|placed| placed.view.topic(topic));
    let (Some(now), Some(lowered)) = (now, resize.memory.lowered_to.get(topic)) else {
        return true;
    };
    now.has_own_min_in_sync && now.min_in_sync == *lowered as usize
}

fn loses_replicas(placed: &Placed, topic: &str) -> bool {
    let mut moves = placed.plan.moves.iter();
    moves.any(|it| &*it.partition.topic == topic && it.to.len() < it.from.len())
}

/// None: the topic has none of its own.
fn own_values(placed: &Placed, topics: &[&str]) -> BTreeMap<String, Option<u32>> {
    let value = |topic: &&str| {
        let found = placed.view.topic(topic)?;
        let own = found.has_own_min_in_sync.then_some(found.min_in_sync);
        let own = own.map(|own| u32::try_from(own).unwrap_or(u32::MAX));
        Some(((*topic).to_owned(), own))
    };
    topics.iter().filter_map(value).collect()
}
