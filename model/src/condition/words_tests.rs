use super::super::{ConditionKind, Joining, MoveObstacle, Moving, Place, Voting, since_when};
use super::*;
use crate::InstanceId;

fn check(conditions: &[Condition], expected: &str) {
    assert_eq!(status(conditions), expected);
}

fn at() -> Timestamp {
    Timestamp::constant(1_794_744_000, 0)
}

fn failing() -> Reason {
    Reason::Failing {
        detail: "the broker ended with 1".into(),
        log: vec!["ERROR a fault".into(), "at java.base/Thread.run".into()],
    }
}

#[test]
fn an_instance_is_told_in_one_sentence() {
    check(&[], "");
    check(&[Reason::Running.into()], "running");
    check(
        &[Reason::Running.into(), Reason::Stopped.of(2), Reason::Stopped.of(3)],
        "running, but for server 2 and server 3, stopped as asked",
    );
    check(
        &[Reason::Running.into(), Reason::Stopped.of(3), Reason::DiskNearlyFull.of(1)],
        "running, but for server 3, stopped as asked, but producers are slowed down: \
         the disk of server 1 is nearly full",
    );
    check(
        &[Reason::DiskNearlyFull.of(1), Reason::ToStop.of(2), Reason::DiskNearlyFull.of(3)],
        "waiting: server 2 is to stop; producers are slowed down: \
         the disk of server 1 and the disk of server 3 is nearly full",
    );
    check(
        &[
            Reason::ClusterStopping { refused: None }.of(1),
            Reason::ClusterStopping { refused: Some("it is another server's turn".into()) }.of(2),
        ],
        "waiting: server 1 is stopping, server 2 has no leave to stop yet: \
         it is another server's turn",
    );
}

#[test]
fn a_server_is_told_with_what_is_known() {
    check(
        &[failing().of(1)],
        "server 1 does not stay up: the broker ended with 1; its log says: \
         ERROR a fault | at java.base/Thread.run",
    );
    let starting = Reason::Starting { start: Some(3), log: vec!["ERROR a fault".into()] };
    check(
        &[starting.of(2)],
        "waiting: the broker of server 2 is starting (start 3); before, its log said: \
         ERROR a fault",
    );
    let unreachable = Condition { since: Some(at()), ..Reason::Unreachable.of(2) };
    check(&[unreachable], "the agent of server 2 has not reported since 2026-11-15 12:00:00 UTC");
    let unresponsive = |answers_us| Condition {
        since: Some(at()),
        ..Reason::Unresponsive { instance: InstanceId(7), name: "a-01".into(), answers_us }.of(1)
    };
    check(
        &[unresponsive(true)],
        "server 1 has not answered its own agent since 2026-11-15 12:00:00 UTC, \
         but answers the control plane",
    );
    check(
        &[unresponsive(false)],
        "server 1 has not answered its own agent since 2026-11-15 12:00:00 UTC; if clients get \
         no answer either, restart it with actions/restart \
         (castellan instance restart 7 --server a-01)",
    );
}

#[test]
fn a_move_is_told_with_what_is_left_and_what_blocks_it() {
    let moving = Moving {
        partitions: 4,
        bytes_done: 1_500_000_000,
        bytes_left: 20_000_000,
        ready_at: Some(at()),
    };
    check(
        &[Reason::Moving { moving }.into()],
        "waiting: replicas move: 1.5 GB done, 20.0 MB left, 4 partitions under way, \
         done at about 2026-11-15 12:00:00 UTC",
    );
    let down = MoveObstacle::Unreachable { place: Place::Server(3) };
    let full = MoveObstacle::NoRoom {
        partition: "orders-1".into(),
        place: Place::Server(2),
        bytes: 2_000_000_000,
    };
    check(
        &[Reason::MoveBlocked { obstacles: FirstFew::few(vec![down, full]) }.into()],
        "waiting before replicas move: the broker of server 3 is unreachable; \
         server 2 has no room for orders-1 yet, which has 2.0 GB",
    );
    let waits_for = Voting::OneOfTwo { lagging: Place::Server(2) };
    check(
        &[Reason::VotesPending { waits_for }.into()],
        "waiting before controllers change: two controllers vote, and that of server 2 is down \
         or lags: nothing can be changed before it is back",
    );
    check(
        &[Reason::JoinOverdue { minutes: 10 }.of(2)],
        "server 2 has not joined the cluster within 10 minutes; cancel the change to take it \
         away again",
    );
    check(
        &[Reason::Joining { waits_for: Joining::Metadata }.of(3), Reason::Removing.of(4)],
        "waiting: server 3 joins the cluster: its controller does not have all metadata yet; \
         waiting: server 4 is being removed",
    );
}

/// What is undone can't be cancelled once more.
#[test]
fn to_cancel_is_said_only_where_that_can_be_done() {
    let blocked = |obstacle| Reason::MoveBlocked { obstacles: FirstFew::few(vec![obstacle]) };
    let full = |may_cancel| {
        let (moving, unplaced) = (3_000_000_000, 2_000_000_000);
        blocked(MoveObstacle::DisksTooSmall { moving, unplaced, may_cancel })
    };
    let wide = |may_cancel| {
        let topic = "t".to_owned();
        blocked(MoveObstacle::TooManyReplicas { topic, replicas: 5, staying: 3, may_cancel })
    };
    check(
        &[full(true).into()],
        "waiting before replicas move: 3.0 GB have to move and there is no room for 2.0 GB of it: \
         delete data, give servers larger disks, or cancel",
    );
    check(
        &[full(false).into()],
        "waiting before replicas move: 3.0 GB have to move and there is no room for 2.0 GB of it: \
         delete data, or give servers larger disks",
    );
    check(
        &[wide(true).into()],
        "waiting before replicas move: topic t has 5 replicas and 3 servers remain: give it fewer \
         replicas, delete it, or cancel",
    );
    check(
        &[wide(false).into()],
        "waiting before replicas move: topic t has 5 replicas and 3 servers remain: give it fewer \
         replicas, or delete it",
    );
}

#[test]
fn a_copy_that_does_not_get_on_is_named() {
    let stalled = |minutes| MoveObstacle::Stalled {
        partition: "t-0".into(),
        places: vec![Place::Server(2)],
        minutes,
    };
    let told = |minutes| {
        Condition::from(Reason::MoveBlocked { obstacles: FirstFew::few(vec![stalled(minutes)]) })
    };
    check(
        &[told(4)],
        "waiting before replicas move: replicas of t-0 have not got on for 4 minutes on \
         server 2",
    );
    assert!(told(4).is_like(&told(5)));
}

fn lagging(in_sync: usize, more: usize) -> Condition {
    let lag = Objection::ReplicaLagging {
        partition: "t-0".into(),
        in_sync,
        replicas: 3,
        place: Place::Server(3),
    };
    let objections = FirstFew { first: vec![lag], more };
    Reason::Blocked { doing: Doing::Restarting, stopped: vec![2], objections }.of(1)
}

#[test]
fn what_blocks_a_server_is_told_with_what_can_be_done() {
    check(
        &[lagging(2, 4)],
        "waiting before restarting server 1: server 2 is stopped as asked; cancel this action, or \
         start its servers again, and then start server 2; t-0 has 2 of 3 replicas in sync, the \
         one on server 3 lags; and 4 more",
    );
    let objections = FirstFew::few(vec![Objection::NoActiveController]);
    check(
        &[Reason::CatchingUp { objections, or_stop: Some(2) }.into()],
        "waiting: no controller is active; to stop and start server 2 instead, cancel this \
         first",
    );
}

#[test]
fn lines_of_logs_are_left_out_where_others_read() {
    let all = [failing().of(1), Reason::ToStop.of(2)];
    let expected =
        "server 1 does not stay up: the broker ended with 1; waiting: server 2 is to stop";
    assert_eq!(status_without_logs(&all), expected);
    let old = Reason::Sentence { text: "server 1 does not stay up; its log says: x".into() };
    assert_eq!(status_without_logs(&[old.into()]), "waiting for the engine");
}

#[test]
fn numbers_that_change_make_no_other_matter_of_it() {
    assert!(lagging(1, 7).is_like(&lagging(2, 4)));
    assert!(!lagging(1, 0).is_like(&lagging(1, 4)), "one of them is all there is");
    assert!(!Reason::ToStop.of(1).is_like(&Reason::ToStop.of(2)));
    let loading = |done| Reason::Loading { loading: Loading { done, of: 9, recovers: true } };
    assert!(loading(1).of(1).is_like(&loading(8).of(1)));
    let before = since_when(vec![lagging(1, 7), Reason::ToStop.of(2)], &[], at());
    let later = at() + crate::SignedDuration::from_secs(9);
    let now = since_when(vec![lagging(2, 4), Reason::ToStop.of(3)], &before, later);
    assert_eq!(now.iter().map(|it| it.since).collect::<Vec<_>>(), [Some(at()), Some(later)]);
}

#[test]
fn texts_make_no_other_matter_of_it() {
    let check = |one: Reason, other: Reason, expected: bool| {
        let (one, other) = (one.of(1), other.of(1));
        assert_eq!(one.is_like(&other), expected, "{one:?} {other:?}");
        assert!(!one.says_the_same(&other), "{one:?}");
        let later = at() + crate::SignedDuration::from_secs(9);
        let before = since_when(vec![one], &[], at());
        let since = since_when(vec![other], &before, later)[0].since;
        assert_eq!(since, Some(if expected { at() } else { later }));
    };
    let text = |text: &str| text.to_owned();
    let preparing = |detail| Reason::Preparing { detail: text(detail) };
    check(preparing("formatting the disk"), preparing("waiting for a file"), true);
    let starting = |start, line| Reason::Starting { start, log: vec![text(line)] };
    check(starting(None, "a"), starting(Some(3), "b"), true);
    let failing = |detail, line| Reason::Failing { detail: text(detail), log: vec![text(line)] };
    check(failing("it ended with 1", "a"), failing("it ended with 2", "b"), true);
    let held = |fault| Reason::Held { fault: text(fault) };
    check(held("the disk is full (3 MiB free)"), held("the disk is full (2 MiB free)"), true);
    let unseen = |error| Reason::Unseen { error: text(error) };
    check(unseen("refused"), unseen("timed out"), true);
    let returning = |error| Reason::LeadersPending { error: text(error) };
    check(returning("refused"), returning("timed out"), true);
    let sentence = |words| Reason::Sentence { text: text(words) };
    check(sentence("one"), sentence("two"), true);
    let stopping = |refused: Option<&str>| Reason::ClusterStopping { refused: refused.map(text) };
    check(stopping(None), stopping(Some("too early")), true);
    let leaving = |doing, refused: Option<&str>| {
        let refused = refused.map(text);
        Reason::Leaving { doing, unresponsive: false, refused }
    };
    check(leaving(Doing::Stopping, Some("no")), leaving(Doing::Stopping, Some("not yet")), true);
    check(leaving(Doing::Stopping, None), leaving(Doing::Restarting, None), false);
    let failed = |step, error, retry_after| Reason::StepFailed {
        step: text(step),
        error: text(error),
        retry_after,
    };
    check(failed("make disk", "no", Some(1)), failed("make disk", "never", None), true);
    check(failed("make disk", "no", None), failed("make server", "no", None), false);
    let pending = |what| Reason::CloudPending { what: text(what) };
    check(pending("the disk takes its time"), pending("the server takes its time"), false);
    let blind = |error| {
        let objections = FirstFew::few(vec![Objection::LookFailed { error: text(error) }]);
        Reason::CatchingUp { objections, or_stop: None }
    };
    check(blind("refused"), blind("timed out"), true);
}

#[test]
fn a_condition_is_kept_and_read_again() {
    let all = [lagging(2, 4), failing().of(1), Reason::Running.into()];
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Condition>>(&text).unwrap(), all);
    assert_eq!(ConditionKind::DiskNearlyFull.to_string(), "disk_nearly_full");
    let later: ConditionKind = serde_json::from_str("\"of_a_later_release\"").unwrap();
    assert_eq!(later, ConditionKind::Unknown);
}
