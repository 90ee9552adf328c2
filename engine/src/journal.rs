//! Whose steps a condition belongs to. Several actions may go on at the same time,
//! and each tells what was done and waited for because of it, and nothing else.

use crate::PassError;
use crate::reached::concerns;
use crate::world::World;
use model::condition::Note;
use model::{Action, ActionId, Condition, Reason, ServerId, Timestamp};
use store::{Work, actions};

/// Adds to every action that goes on what of this is its own.
pub(crate) async fn note(
    work: &mut Work,
    world: &World,
    conditions: &[Condition],
    now: Timestamp,
) -> Result<(), PassError> {
    let open = actions::open(work, world.instance.id).await?;
    let is_stopped = |number| is_stopped(world, number);
    for action in &open {
        let own = own(action, &open, conditions, is_stopped);
        if !own.is_empty() {
            let note = Note::Conditions { conditions: own };
            actions::note_on(work, action.id, &note, now).await?;
        }
    }
    Ok(())
}

/// The actions that go on and tell what happens to this server, or to all.
pub(crate) async fn owners(
    work: &mut Work,
    world: &World,
    server: Option<ServerId>,
) -> Result<Vec<ActionId>, PassError> {
    let open = actions::open(work, world.instance.id).await?;
    let view = world.servers.iter().find(|view| Some(view.server.id) == server);
    let Some(server) = view.map(|view| &view.server) else {
        return Ok(open.iter().map(|action| action.id).collect());
    };
    let is_own = |action: &&Action| is_own(action, &open, server.number, server.stopped);
    Ok(open.iter().filter(is_own).map(|action| action.id).collect())
}

/// Whether a server shall not run.
fn is_stopped(world: &World, number: u32) -> bool {
    world.servers.iter().any(|view| view.server.number == number && view.server.stopped)
}

/// What of this is the action's own; nothing: it is all of others. What is about all
/// servers is everybody's, with all that is beside it.
fn own(
    action: &Action,
    open: &[Action],
    conditions: &[Condition],
    is_stopped: impl Fn(u32) -> bool,
) -> Vec<Condition> {
    let of_one = |it: &Condition| it.server.filter(|_| is_of_one_server(&it.reason));
    let is_of_all = |it: &Condition| of_one(it).is_none() && !is_healthy(it);
    if conditions.iter().any(is_of_all) || conditions.iter().all(|it| of_one(it).is_none()) {
        return conditions.to_vec();
    }
    let is_own = |it: &&Condition| {
        of_one(it).is_some_and(|number| is_own(action, open, number, is_stopped(number)))
    };
    conditions.iter().filter(is_own).cloned().collect()
}

/// Whether a reason that names a server concerns nobody but those who asked for it.
fn is_of_one_server(reason: &Reason) -> bool {
    !matches!(reason, Reason::ClusterStopping { .. } | Reason::Stopped | Reason::DiskNearlyFull)
}

/// Whether nothing is waited for because of this.
fn is_healthy(condition: &Condition) -> bool {
    match condition.reason {
        Reason::Running | Reason::DiskNearlyFull => true,
        Reason::Stopped => condition.server.is_some(),
        _ => false,
    }
}

/// A server that nobody has asked anything of holds up whatever goes on.
fn is_own(action: &Action, open: &[Action], number: u32, stopped: bool) -> bool {
    let concerns = |action: &Action| concerns(action, number, stopped);
    concerns(action) || !open.iter().any(concerns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ActionKind, InstanceId};
    use std::collections::BTreeMap;

    fn action(kind: ActionKind, servers: &[u32]) -> Action {
        Action {
            id: ActionId(1),
            instance_id: InstanceId(1),
            kind,
            servers: servers.to_vec(),
            asked_by: "ada@example.test".into(),
            source: "cli".into(),
            asked_at: Timestamp::UNIX_EPOCH,
            generation: 2,
            cancelled_at: None,
            ended_at: None,
            overtaken: BTreeMap::new(),
        }
    }

    /// What each of them tells of servers 1 and 2, and of 3, which shall not run.
    fn check(open: &[Action], expected: &[&[u32]]) {
        let servers = [1, 2, 3].map(|number| Reason::BrokerStopping.of(number));
        let told = |action: &Action, conditions: &[Condition]| -> Vec<u32> {
            let own = own(action, open, conditions, |number| number == 3);
            own.iter().filter_map(|it| it.server).collect()
        };
        let of_each: Vec<_> = open.iter().map(|action| told(action, &servers)).collect();
        assert_eq!(of_each, expected);
        for action in open {
            let mut all = servers.to_vec();
            all.push(Reason::Unseen { error: "so it is".into() }.into());
            assert_eq!(told(action, &all), [1, 2, 3], "it is about all of them");
            let slowed = [Reason::Running.into(), Reason::DiskNearlyFull.of(2)];
            assert_eq!(told(action, &slowed), [2]);
        }
    }

    #[test]
    fn each_action_tells_its_own() {
        let (restart, stop) = (action(ActionKind::Restart, &[1]), action(ActionKind::Stop, &[3]));
        // Nobody asked for server 2: both wait for it.
        check(&[restart.clone(), stop.clone()], &[&[1, 2], &[2, 3]]);
        let (roll, start) =
            (action(ActionKind::ClusterRestart, &[]), action(ActionKind::Start, &[2]));
        check(&[roll.clone(), stop.clone(), start], &[&[1, 2], &[3], &[2]]);
        check(&[action(ActionKind::ClusterStop, &[])], &[&[1, 2, 3]]);
        check(std::slice::from_ref(&stop), &[&[1, 2, 3]]);
        let overtaken = BTreeMap::from([(1, ActionId(2)), (2, ActionId(2))]);
        check(&[Action { overtaken, ..roll }, stop, restart], &[&[2], &[2, 3], &[1, 2]]);
    }
}
