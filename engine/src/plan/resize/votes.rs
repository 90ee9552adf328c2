//! Who votes: new controllers get a vote before replicas move, leaving ones lose theirs once
//! nothing else is left of them. One at a time, and never so that a majority of those that
//! vote afterwards would lack metadata.
//!
//! Two voters are one too few: if either dies, nothing can be committed, not even that it is
//! removed. So no voter is added before all that will be added have caught up, and the third
//! follows right after the second; two are left only while both are up, and not for long.

use super::{Change, pause};
use crate::plan::{Plan, Step, sizing};
use crate::world::ServerView;
use model::Reason;
use model::condition::{Joining, Voting};

pub(super) fn add_voters(change: &Change) -> Option<Plan> {
    let future = sizing::future_voters(change.world);
    // What is no controller yet becomes one by a restart, which may have to wait.
    let lacks_vote = |view: &&ServerView| {
        view.server.is_controller() && !change.placed.votes(view.server.node_id)
    };
    let missing: Vec<&ServerView> = future.into_iter().filter(lacks_vote).collect();
    let first = missing.first()?;
    let lags = |view: &&&ServerView| !change.placed.has_all_metadata(view.server.node_id);
    let lagging: Vec<_> = missing.iter().filter(lags).collect();
    if change.placed.quorum.leader.is_some() && !lagging.is_empty() {
        let waits_for = Joining::Metadata;
        let reasons =
            lagging.iter().map(|view| Reason::Joining { waits_for }.of(view.server.number));
        return Some(pause(reasons.collect()));
    }
    let voters: Vec<i32> = voters(change).chain([first.server.node_id]).collect();
    Some(change_votes(change, &voters, Step::AddVoter(first.server.id)))
}

/// A growth was undone after the second of three got its vote. Either of two is missed, so its
/// vote goes before replicas move, which may take hours. Three can do without one, and stay
/// until then.
pub(super) fn leave_none_of_two(change: &Change) -> Option<Plan> {
    let is_final = change.resize.undo || change.resize.removing;
    let is_due = is_final && voters(change).count() == 2;
    is_due.then(|| remove_voters(change)).flatten()
}

/// Controllers that are down go first, while there are others to commit that, and the active
/// one last: each change of the leader costs an election.
pub(super) fn remove_voters(change: &Change) -> Option<Plan> {
    let leaves = |view: &&ServerView| change.placed.votes(view.server.node_id);
    let first = change.leaving().filter(leaves).min_by_key(|view| {
        let node = view.server.node_id;
        let leads = change.placed.quorum.leader == Some(node);
        (change.placed.has_all_metadata(node), leads, view.server.number)
    })?;
    let left: Vec<i32> = voters(change).filter(|node| *node != first.server.node_id).collect();
    Some(change_votes(change, &left, Step::RemoveVoter(first.server.id)))
}

fn voters<'a>(change: &'a Change) -> impl Iterator<Item = i32> + 'a {
    change.placed.quorum.voters.iter().map(|voter| voter.id)
}

/// If these would be a quorum that works.
fn change_votes(change: &Change, voters: &[i32], step: Step) -> Plan {
    match objection(change, voters) {
        None => change.act(step),
        Some(waits_for) => pause(vec![Reason::VotesPending { waits_for }.into()]),
    }
}

fn objection(change: &Change, voters: &[i32]) -> Option<Voting> {
    let now = &change.placed.quorum;
    if now.leader.is_none() {
        return Some(Voting::Leader);
    }
    let lags = |node: &&i32| !change.placed.has_all_metadata(**node);
    let lagging: Vec<i32> = voters.iter().filter(lags).copied().collect();
    if let [one, other] = now.voters.iter().map(|voter| voter.id).collect::<Vec<_>>()[..]
        && let Some(node) = [one, other].iter().find(lags)
    {
        return Some(Voting::OneOfTwo { lagging: change.place(*node) });
    }
    let (of, left) = (voters.len(), voters.len() - lagging.len());
    let needed = if of == 2 { 2 } else { of / 2 + 1 };
    let lagging = lagging.into_iter().map(|node| change.place(node)).collect();
    (left < needed).then_some(Voting::Majority { left, of, lagging })
}
