//! For how long brokers that run have not replied to us, in the memory of this process.
//!
//! A broker that misses one look may be busy, or the way to it may be; one that misses
//! every look for half a minute is unresponsive. So is, at once, one that does not answer
//! its own agent, unless it has just answered us: the agent asks for metrics alone. A
//! control plane that was started anew begins to count anew.

use crate::world::{ServerView, World};
use model::{InstanceId, ServerId, SignedDuration};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

/// A broker that gives no answer for so long is unresponsive.
const UNRESPONSIVE: SignedDuration = SignedDuration::from_secs(30);
/// What a look found holds for so long.
const FRESH: SignedDuration = SignedDuration::from_secs(15);
/// Two looks that are further apart say nothing of the time between them. Longer than
/// a look holds, and than it takes: looks that were missed before go on counting.
const APART: SignedDuration = SignedDuration::from_secs(30);

#[derive(Default)]
pub(crate) struct Replies(Mutex<HashMap<(InstanceId, ServerId), Looks>>);

/// What the last looks at a broker found, and when by the clock that never goes back.
#[derive(Clone, Copy)]
struct Looks {
    /// Another process is another story.
    pid: Option<i32>,
    /// The first of the looks that it missed; none if it answered the last.
    missing_since: Option<SignedDuration>,
    last: SignedDuration,
}

impl Replies {
    /// Takes in what the last look found, and names the servers whose brokers are unresponsive.
    pub fn unresponsive(&self, world: &World, now: SignedDuration) -> HashSet<ServerId> {
        let instance = world.instance.id;
        let up: Vec<&ServerView> = world.servers.iter().filter(|view| view.is_up()).collect();
        let mut known = self.0.lock().expect("no holder of this lock panics");
        known.retain(|(of, id), _| *of != instance || up.iter().any(|it| it.server.id == *id));
        let is_unresponsive = |view: &&ServerView| {
            let key = (instance, view.server.id);
            let pid = view.current_report().and_then(|report| report.broker_pid);
            let looks = Looks::after(known.get(&key).copied(), pid, answered(world, view), now);
            known.extend(looks.map(|looks| (key, looks)));
            Looks::is_unresponsive(looks, view.unresponsive_since().is_some(), now)
        };
        up.into_iter().filter(is_unresponsive).map(|view| view.server.id).collect()
    }
}

/// Whether it answered the look of this pass; none if it was not asked.
fn answered(world: &World, view: &ServerView) -> Option<bool> {
    let (look, node) = (world.look.as_ref()?, view.server.node_id);
    let is_heard = look.views.contains_key(&node);
    (is_heard || look.no_reply.contains(&node)).then_some(is_heard)
}

impl Looks {
    /// What is known of a broker once it answered, or did not, or was not asked.
    fn after(
        earlier: Option<Self>,
        pid: Option<i32>,
        answered: Option<bool>,
        now: SignedDuration,
    ) -> Option<Self> {
        let earlier = earlier.filter(|looks| looks.pid == pid);
        let Some(answered) = answered else { return earlier };
        let lasting = earlier.filter(|looks| now - looks.last <= APART);
        let since = lasting.and_then(|looks| looks.missing_since).unwrap_or(now);
        Some(Self { pid, missing_since: (!answered).then_some(since), last: now })
    }

    /// Whether a broker is unresponsive by what is known of it, and by its agent's word.
    fn is_unresponsive(looks: Option<Self>, is_reported: bool, now: SignedDuration) -> bool {
        let Some(Self { missing_since, last, .. }) =
            looks.filter(|looks| now - looks.last <= FRESH)
        else {
            return is_reported;
        };
        missing_since.is_some_and(|since| is_reported || last - since >= UNRESPONSIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second, the pid, whether it answered if it was asked, whether its agent gets
    /// none, and whether it is unresponsive.
    type Moment = (i64, i32, Option<bool>, bool, bool);

    const MISSED: Option<bool> = Some(false);
    const HEARD: Option<bool> = Some(true);

    fn check(moments: &[Moment]) {
        let mut looks = None;
        for (second, pid, answered, is_reported, expected) in moments {
            let now = SignedDuration::from_secs(*second);
            looks = Looks::after(looks, Some(*pid), *answered, now);
            let found = Looks::is_unresponsive(looks, *is_reported, now);
            assert_eq!(found, *expected, "at {second} of {moments:?}");
        }
    }

    #[test]
    fn one_that_misses_every_look_for_half_a_minute_is_unresponsive() {
        check(&[
            (0, 7, MISSED, false, false),
            (20, 7, MISSED, false, false),
            (29, 7, MISSED, false, false),
            (30, 7, MISSED, false, true),
        ]);
    }

    #[test]
    fn an_answer_and_another_process_are_counted_anew() {
        check(&[
            (0, 7, MISSED, false, false),
            (20, 7, HEARD, false, false),
            (30, 7, MISSED, false, false),
            (59, 7, MISSED, false, false),
            (60, 7, MISSED, false, true),
            (61, 8, MISSED, false, false),
            (90, 8, MISSED, false, false),
            (91, 8, MISSED, false, true),
        ]);
    }

    #[test]
    fn what_was_found_holds_for_a_while_and_goes_on_with_the_next_look() {
        check(&[
            (0, 7, MISSED, false, false),
            (30, 7, MISSED, false, true),
            (45, 7, None, false, true),
            (46, 7, None, false, false),
            (50, 7, MISSED, false, true),
        ]);
        check(&[
            (0, 7, MISSED, false, false),
            (31, 7, MISSED, false, false),
            (60, 7, MISSED, false, false),
            (61, 7, MISSED, false, true),
        ]);
    }

    #[test]
    fn an_agent_s_word_counts_at_once_unless_the_broker_has_just_answered() {
        check(&[
            (0, 7, None, true, true),
            (1, 7, HEARD, true, false),
            (16, 7, None, true, false),
            (17, 7, None, true, true),
            (18, 7, MISSED, true, true),
            (19, 7, HEARD, true, false),
        ]);
    }
}
