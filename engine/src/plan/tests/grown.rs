//! More servers.

use super::{Cluster, check};
use kafka::client::UnderWay;
use model::{ConditionKind, DiskState, MoveProgress, Reason, SignedDuration, Timestamp};
use wire::agent::Phase;

/// One server becomes three. All of them run, and the old min ISR holds for the new ones too.
fn three() -> Cluster {
    Cluster::running(3).grows(1).min_isr_held().all_informed()
}

/// The same, and Kafka was asked.
fn seen() -> Cluster {
    three().voters(&[1])
}

#[test]
fn new_servers_come_up_before_anything_else() {
    let new = || Cluster::running(3).grows(1).disk(2, DiskState::Planned).all_informed();
    check(new(), "2: make disk");
    check(three().reports(3, Phase::Starting), "wait: starting 3");
    check(three(), "place");
    check(seen().unregistered(2), "wait: joining 2 (registration)");
    check(seen().fenced(3), "wait: joining 3 (unfencing)");
}

/// They are started for three replicas, when topics have one.
#[test]
fn new_brokers_ask_for_no_more_replicas_in_sync_than_there_are() {
    let new = || Cluster::running(3).grows(1).all_informed().voters(&[1]);
    check(new(), "set min isr to 1");
    check(new().unregistered(2), "set min isr to 1");
    check(new().min_isr_held(), "add voter of 2");
    // Those that were there were started with the same one.
    check(Cluster::running(5).grows(3).all_informed().voters(&[1, 2, 3]), "end resize");
}

#[test]
fn controllers_get_votes_one_right_after_the_other() {
    check(seen().controller_lags(3), "wait: joining 3 (metadata)");
    check(
        seen().controller_lags(2).controller_lags(3),
        "wait: joining 2 (metadata), joining 3 (metadata)",
    );
    check(seen(), "add voter of 2");
    check(three().voters(&[1, 2]), "add voter of 3");
    // With two voters, of which one is down, nothing can be committed.
    let two = || three().voters(&[1, 2]);
    check(two().controller_lags(2), "wait: votes pending (one of two)");
    check(two().controller_lags(3), "wait: joining 3 (metadata)");
    check(seen().no_controller_active(), "wait: votes pending (leader)");
    // Servers 4 and 5 are brokers alone.
    let five = || Cluster::running(5).grows(3).all_informed().voters(&[1, 2, 3]);
    check(five().topic("t", 2, &[1, 2, 3]).topic("u", 2, &[3, 4, 5]), "end resize");
}

#[test]
fn replicas_follow_and_min_isr_comes_last() {
    let voting = || three().voters(&[1, 2, 3]);
    check(voting().topic("t", 1, &[1]), "move");
    let moving = || {
        voting().topic("t", 1, &[1, 2, 3]).but(|it| {
            it.in_sync = vec![1];
            it.reassignment = Some(UnderWay::default());
        })
    };
    check(moving(), "wait: moving");
    check(moving().throttled(1), "wait: moving");
    check(moving().throttled(1).shall_copy_at(2000), "adjust throttle");
    check(moving().reports(2, Phase::Starting), "wait: starting 2");
    let moved = || voting().topic("t", 1, &[1, 2, 3]);
    check(moved(), "set min isr to 2");
    check(moved().but(|it| it.in_sync = vec![1]), "wait: move blocked (lagging)");
    check(moved().but(|it| it.in_sync = vec![1, 3]), "set min isr to 2");
    check(moved().but(|it| it.leader = Some(2)), "move");
    check(moved().but(|it| it.leader = None), "wait: move blocked (no leader)");
    check(moved().min_isr_set(), "restart staying");
    check(moved().min_isr_set().throttled(2), "end throttles");
    check(moved().min_isr_set().restarted(), "end resize");
    check(moved().min_isr_set().restarted().restart(&[1]), "look");
    // Kafka's own topics follow by themselves.
    check(moved().topic("__transaction_state", 1, &[1, 2, 3]), "move");
}

#[test]
fn a_stale_elr_is_mended_before_a_replica_is_added() {
    let stale = || three().voters(&[1, 2, 3]).topic("t", 2, &[1]).but(|it| it.elr = vec![2]);
    check(stale(), "move");
    let mended = || {
        three().voters(&[1, 2, 3]).remembers(|memory| {
            memory.mended.insert("t".into(), Some(2));
        })
    };
    check(mended().topic("t", 1, &[1]), "end mending");
    check(
        mended().topic("t", 1, &[1]).but(|it| it.leader = None),
        "wait: move blocked (no leader)",
    );
    check(mended(), "end mending");
    // Producers would be refused, and nothing else waits for that.
    let lagging = || mended().topic("t", 1, &[1, 2, 3]).but(|it| it.in_sync = vec![1]);
    check(lagging().topic("u", 1, &[1]), "move");
    check(lagging().min_isr_set(), "wait: move blocked (lagging)");
    check(lagging().min_isr_set().but(|it| it.in_sync = vec![1, 2]), "end mending");
}

#[test]
fn nothing_is_restarted_where_new_topics_stay_as_they_are() {
    let five = || Cluster::running(5).grows(3).all_informed().voters(&[1, 2, 3]);
    check(five(), "end resize");
    check(Cluster::running(3).rebalances().all_informed().voters(&[1, 2, 3]), "end resize");
}

/// A copy under way may wait for the very broker that is to be restarted.
#[test]
fn a_cancelled_rebalance_ends_beside_a_roll_and_holds_none_up() {
    let cancelled = || Cluster::running(3).rebalances().undone().all_informed();
    let due = || cancelled().voters(&[1, 2, 3]).restart(&[1]);
    check(due(), "end resize");
    let moving = || {
        due().topic("t", 1, &[1, 2, 3]).but(|it| {
            let (adding, removing) = (vec![3], vec![2]);
            it.reassignment = Some(UnderWay { adding, removing, copied_bytes: 0 });
        })
    };
    check(moving().looked_at(), "open ticket of 1");
    let down = || cancelled().voters(&[1, 2, 3]).reports(3, Phase::Failed).fenced(3);
    check(down(), "end resize");
    check(down().topic("t", 1, &[1, 2, 3]), "end resize");
}

#[test]
fn a_server_that_does_not_come_up_is_told_of_and_taken_away() {
    let failed = || Cluster::running(3).grows(1).all_informed().reports(3, Phase::Failed);
    check(failed(), "wait: failing 3");
    check(failed().asked_long_ago(), "wait: failing 3, join overdue 3");
    let undone = || {
        let cluster = failed().disk(3, DiskState::Formatting).undone().all_informed();
        cluster.voters(&[1]).cordoned(&[2, 3]).unregistered(3)
    };
    check(undone(), "begin removing");
    check(undone().removing(), "stop leaving");
    // Server 3 serves no clients, and may stop without asking.
    check(undone().told_to_leave().looked_at(), "3: hibernate");
    check(undone().told_to_leave().looked_at().removed(3), "open ticket of 2");
    let stopped = || undone().told_to_leave().all_informed().reports(2, Phase::Stopped).fenced(2);
    check(stopped(), "each: hibernate");
    check(stopped().hibernated(&[2, 3]), "each: remove leaving");
    check(stopped().removed(2).removed(3), "end resize");
}

#[test]
fn what_was_raised_is_lowered_again_if_it_is_undone() {
    let raised = || {
        let cluster = three().min_isr_set().undone().all_informed().cordoned(&[2, 3]);
        cluster.voters(&[1, 2, 3]).topic("t", 2, &[1, 2, 3])
    };
    check(raised(), "set min isr to 1");
    check(raised().min_isr_set(), "move");
    // A control plane died after it asked Kafka for more, so it may be so.
    let asked = || raised().min_isr_set().remembers(|memory| memory.min_isr_asked = Some(2));
    check(asked(), "set min isr to 1");
    // Its settings were for three.
    check(raised().remembers(|memory| memory.rendered_for = Some(3)), "restart staying");
    let lowered = || {
        let cluster = three().undone().all_informed().cordoned(&[2, 3]);
        cluster.topic("t", 1, &[1])
    };
    check(lowered().voters(&[1, 2, 3]), "begin removing");
    check(lowered().removing().voters(&[1, 2, 3]), "remove voter of 2");
    check(lowered().removing().voters(&[1, 2, 3]).controller_lags(3), "remove voter of 3");
    check(lowered().removing().voters(&[1, 3]), "remove voter of 3");
    check(lowered().removing().voters(&[1]), "stop leaving");
}

/// Without either of them nothing can be committed, and replicas may take hours to move.
#[test]
fn two_voters_are_not_left_while_replicas_move() {
    let undone = |voters: &[u32]| {
        let cluster = three().undone().all_informed().cordoned(&[2, 3]);
        cluster.voters(voters).topic("t", 1, &[1, 2])
    };
    check(undone(&[1, 2]), "remove voter of 2");
    check(undone(&[2, 1]), "remove voter of 2");
    check(undone(&[1, 2]).controller_lags(2), "wait: votes pending (one of two)");
    check(undone(&[1]), "move");
    // Three can do without one of them.
    check(undone(&[1, 2, 3]), "move");
}

#[test]
fn a_cluster_that_is_stopped_or_deleted_meanwhile_is() {
    check(three().cluster_stop(), "note stopping");
    check(three().delete(), "each: remove server");
    // Customers of a cluster that was started again do not wait for a new server.
    let started = || Cluster::running(3).grows(1).not_ready().all_informed();
    check(started().reports(3, Phase::Failed), "check login");
}

/// Bigger servers were asked for as well: those that stay are restarted once.
#[test]
fn servers_that_stay_are_restarted_once_for_number_and_size() {
    let spread = |from| {
        let five = Cluster::running(5).grows(from).all_informed().voters(&[1, 2, 3]);
        five.min_isr_set().topic("t", 2, &[1, 2, 3]).topic("u", 2, &[3, 4, 5])
    };
    check(spread(3), "end resize");
    check(spread(3).remembers(|memory| memory.rendered_for = Some(0)), "restart staying");
    check(spread(3).remembers(|memory| memory.rendered_for = Some(5)), "end resize");
    check(spread(1).remembers(|memory| memory.rendered_for = Some(0)), "restart staying");
    check(spread(1).remembers(|memory| memory.rendered_for = Some(5)), "end resize");
}

#[test]
fn copies_that_stand_still_are_named() {
    let moving = |minutes| {
        let cluster = three().voters(&[1, 2, 3]).topic("t", 1, &[1, 2, 3]).but(|it| {
            it.in_sync = vec![1];
            it.reassignment = Some(UnderWay { adding: vec![2, 3], ..UnderWay::default() });
        });
        cluster.with(|world| {
            let moved_at = world.now - SignedDuration::from_mins(minutes);
            world.resize.as_mut().unwrap().progress = Some(MoveProgress {
                bytes_done: 0,
                bytes_left: 9,
                began_at: moved_at,
                observed_at: world.now,
                moved_at: Some(moved_at),
                partitions_left: 1,
                bytes_per_second: None,
                ready_at: None,
                fading: [0.0; 3],
            });
        })
    };
    check(moving(1), "wait: moving");
    check(moving(3), "wait: moving, move blocked (stalled)");
}

/// Once it is over, the journal says what is not as people may expect.
#[test]
fn what_is_left_to_people_is_noted() {
    let notes = |cluster: Cluster| {
        let world = cluster.world();
        let notes = world.placed().unwrap().leftovers(world.resize.as_ref().unwrap());
        notes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let grown = || three().voters(&[1, 2, 3]).topic("t", 1, &[1, 2, 3]);
    assert!(notes(grown()).is_empty(), "its min ISR follows the cluster's");
    let low = notes(grown().own_min_isr());
    assert!(low[0].contains("one server alone has") && low[0].ends_with(": t"), "{low:?}");
    assert!(notes(grown().own_min_isr().undone()).is_empty());
    let large = notes(three().voters(&[1, 2, 3]).topic("t", 1, &[1]).but(|it| {
        it.bytes = 80_000_000_000;
    }));
    assert!(large[0].starts_with("these topics keep one replica"), "{large:?}");
    let shrunk = Cluster::running(3).shrinks(1).voters(&[1]).topic("t", 1, &[1]);
    let lowered = notes(shrunk.remembers(|memory| {
        memory.lowered = [("t".into(), Some(2)), ("gone".into(), Some(2))].into();
    }));
    assert!(lowered[0].ends_with("when servers are added again: t"), "{lowered:?}");
}

#[test]
fn what_is_told_is_data() {
    let condition = Reason::JoinOverdue { minutes: 10 }.of(2);
    assert_eq!(condition.reason.kind(), ConditionKind::Blocked);
    assert!(condition.is_like(&Reason::JoinOverdue { minutes: 11 }.of(2)));
    let moving =
        model::condition::Moving { ready_at: Some(Timestamp::UNIX_EPOCH), ..Default::default() };
    assert_eq!(Reason::Moving { moving }.kind(), ConditionKind::Waiting);
}
