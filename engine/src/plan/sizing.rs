//! What a change of the number of servers comes to: the mover's aim, the cluster's min ISR,
//! which controllers vote, and whether brokers have to be restarted for it. Pure.

use crate::world::{ServerView, World};
use kafka::settings::MIN_IN_SYNC;
use model::{Instance, Membership, Resize, ServerRole};
use mover::Aim;
use std::collections::BTreeMap;

/// As many controllers as vote in a cluster with enough servers.
const MOST_VOTERS: usize = 3;
/// As many replicas as topics get that follow the number of servers.
const MOST_COPIES: u32 = 3;

/// What the mover is to reach.
pub fn aim(resize: &Resize) -> Aim {
    let from = resize.from as usize;
    match (resize.undo, resize.is_rebalance(), resize.to > resize.from) {
        (false, true, _) => Aim::rebalance(),
        (false, false, true) => Aim::grow(from, resize.raise_replication),
        (false, false, false) => Aim::shrink(resize.to as usize, resize.accept_single_copy),
        (true, true, _) => Aim::end(),
        // Whatever was made or raised meanwhile has to fit again.
        (true, false, true) => {
            Aim { lower_to: Some(from), spread: true, accept_single_copy: true, ..Aim::default() }
        }
        (true, false, false) => Aim { topics: replicas_before(resize), ..Aim::rebalance() },
    }
}

fn replicas_before(resize: &Resize) -> BTreeMap<String, usize> {
    let before = resize.memory.replicas.iter();
    before.map(|(topic, replicas)| (topic.clone(), *replicas as usize)).collect()
}

/// Topics that get their own min ISR back: all whose replicas are as many as before.
pub fn lowered_to_put_back(resize: &Resize) -> BTreeMap<String, Option<u32>> {
    let memory = &resize.memory;
    let is_due = |topic: &String| resize.undo || !memory.replicas.contains_key(topic);
    let lowered = memory.lowered.iter().filter(|(topic, _)| is_due(topic));
    lowered.map(|(topic, before)| (topic.clone(), *before)).collect()
}

/// The min ISR of topics that have none of their own, in a cluster of so many servers. What
/// the customer chose holds where there are enough servers for it.
pub fn min_isr(instance: &Instance, servers: u32) -> u32 {
    let chosen = instance.settings.get(MIN_IN_SYNC).and_then(|value| value.parse().ok());
    let chosen = chosen.filter(|chosen| *chosen <= servers);
    chosen.unwrap_or(if servers < MOST_COPIES { 1 } else { MOST_COPIES - 1 })
}

/// The same as it is by now: while servers join and leave, what it was last set to.
pub fn present_min_isr(instance: &Instance, resize: Option<&Resize>) -> u32 {
    let Some(resize) = resize else { return min_isr(instance, instance.nodes) };
    resize.memory.min_isr.unwrap_or_else(|| min_isr(instance, resize.from))
}

/// Whether brokers have other settings for so many servers than for so many others: how
/// many replicas new topics get, and which controllers they ask for the quorum.
pub fn is_rendered_alike(one: u32, other: u32) -> bool {
    one.min(MOST_COPIES) == other.min(MOST_COPIES)
}

/// The servers whose controllers are to vote: as many as can, an odd number. Those that are
/// controllers come first, so that as few as possible have to be restarted as one.
pub fn future_voters(world: &World) -> Vec<&ServerView> {
    let stays = |view: &&ServerView| !view.server.is_leaving();
    let mut staying: Vec<&ServerView> = world.servers.iter().filter(stays).collect();
    staying.sort_by_key(|view| {
        let is_new = view.server.membership == Membership::Joining;
        (!view.server.is_controller(), is_new, view.server.number)
    });
    let most = staying.len().min(MOST_VOTERS);
    staying.truncate(if most.is_multiple_of(2) { most.saturating_sub(1) } else { most });
    staying
}

/// Servers that become controllers because others leave, with what they are then.
pub fn promoted(world: &World) -> Vec<(&ServerView, Vec<ServerRole>)> {
    let lacking = future_voters(world).into_iter().filter(|view| !view.server.is_controller());
    let roles = |view: &ServerView| {
        view.server.roles.iter().copied().chain([ServerRole::Controller]).collect()
    };
    lacking.map(|view| (view, roles(view))).collect()
}
