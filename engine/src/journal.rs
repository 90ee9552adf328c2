//! Whose steps a sentence belongs to. Several actions may go on at the same time,
//! and each tells what was done and waited for because of it, and nothing else.

use crate::PassError;
use crate::pass::Pass;
use crate::plan::{Plan, RUNNING};
use crate::world::World;
use model::{Action, ActionId, ActionKind, ServerId, Timestamp};
use store::{Work, actions};

/// Sentences by the servers that they are about; none: there is one, about all.
pub(crate) type Said = Vec<(ServerId, String)>;

/// What a pass that rests waits for.
pub(crate) fn said(pass: &Pass, plan: &Plan) -> Said {
    if pass.resting.is_empty() {
        return plan.wait.of.clone();
    }
    let is_planned_of_all = plan.wait.of.is_empty() && plan.wait.reason != RUNNING;
    if pass.resting.contains_key(&None) || is_planned_of_all {
        return vec![];
    }
    let resting = pass.resting.iter();
    let resting = resting.filter_map(|(server, resting)| Some(((*server)?, &resting.reason)));
    resting.map(|(server, reason)| (server, reason.clone())).chain(plan.wait.of.clone()).collect()
}

/// Adds to every action that goes on what of this is its own: `sentence` is all of
/// it, in one piece.
pub(crate) async fn note(
    work: &mut Work,
    world: &World,
    sentence: &str,
    said: &[(ServerId, String)],
    now: Timestamp,
) -> Result<(), PassError> {
    for (action, text) in by_action(work, world, sentence, said).await? {
        actions::note_on(work, action, &text, now).await?;
    }
    Ok(())
}

/// What of this is whose own, of the actions that go on.
pub(crate) async fn by_action(
    work: &mut Work,
    world: &World,
    sentence: &str,
    said: &[(ServerId, String)],
) -> Result<Vec<(ActionId, String)>, PassError> {
    let open = actions::open(work, world.instance.id).await?;
    let of: Vec<Of<'_>> = said.iter().filter_map(|(id, text)| of(world, *id, text)).collect();
    let owned = open.iter().filter_map(|action| {
        let text = own(action, &open, sentence, &of)?;
        Some((action.id, text))
    });
    Ok(owned.collect())
}

/// A sentence about one server.
struct Of<'a> {
    number: u32,
    /// Whether that server shall not run.
    stopped: bool,
    text: &'a str,
}

fn of<'a>(world: &World, id: ServerId, text: &'a str) -> Option<Of<'a>> {
    let view = world.servers.iter().find(|view| view.server.id == id)?;
    Some(Of { number: view.server.number, stopped: view.server.stopped, text })
}

/// None: it is all of others. A server that nobody has asked anything of holds up
/// whatever goes on.
fn own(action: &Action, open: &[Action], sentence: &str, of: &[Of<'_>]) -> Option<String> {
    if of.is_empty() {
        return Some(sentence.to_owned());
    }
    let is_of = |action: &Action, of: &Of<'_>| concerns(action, of.number, of.stopped);
    let is_own = |of: &&Of<'_>| is_of(action, of) || !open.iter().any(|other| is_of(other, of));
    let texts: Vec<&str> = of.iter().filter(is_own).map(|of| of.text).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Whether a server is as it is, to run or `stopped`, because of this action.
pub(crate) fn concerns(action: &Action, number: u32, stopped: bool) -> bool {
    let fits = match action.kind {
        ActionKind::Create | ActionKind::ClusterStop | ActionKind::ClusterStart => true,
        ActionKind::Stop => stopped,
        ActionKind::ClusterRestart
        | ActionKind::Configure
        | ActionKind::Restart
        | ActionKind::Start => !stopped,
    };
    fits && action.is_about(number) && !action.overtaken.contains_key(&number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::InstanceId;
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
    fn check(open: &[Action], expected: &[&str]) {
        let of = [(1, "one"), (2, "two"), (3, "three")];
        let of = of.map(|(number, text)| Of { number, stopped: number == 3, text });
        let told = open.iter().map(|action| own(action, open, "all", &of).unwrap_or_default());
        assert_eq!(told.collect::<Vec<_>>(), expected);
        for action in open {
            assert_eq!(own(action, open, "all", &[]).as_deref(), Some("all"));
        }
    }

    #[test]
    fn each_action_tells_its_own() {
        let (restart, stop) = (action(ActionKind::Restart, &[1]), action(ActionKind::Stop, &[3]));
        // Nobody asked for server 2: both wait for it.
        check(&[restart.clone(), stop.clone()], &["one; two", "two; three"]);
        let (roll, start) =
            (action(ActionKind::ClusterRestart, &[]), action(ActionKind::Start, &[2]));
        check(&[roll.clone(), stop.clone(), start], &["one; two", "three", "two"]);
        check(&[action(ActionKind::ClusterStop, &[])], &["one; two; three"]);
        check(std::slice::from_ref(&stop), &["one; two; three"]);
        let overtaken = BTreeMap::from([(1, ActionId(2)), (2, ActionId(2))]);
        check(&[Action { overtaken, ..roll }, stop, restart], &["two", "two; three", "one; two"]);
    }
}
