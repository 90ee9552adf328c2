//! Fewer servers.

use super::{Cluster, check};
use crate::world::World;
use model::SignedDuration;
use wire::agent::Phase;

/// Three servers become one. All of them run.
fn one() -> Cluster {
    Cluster::running(3).shrinks(1).all_informed()
}

/// Staying servers were restarted, and leaving ones get no new replicas.
fn ready() -> Cluster {
    one().restarted().cordoned(&[2, 3]).voters(&[1, 2, 3])
}

/// Nothing is left on servers 2 and 3 but votes.
fn empty() -> Cluster {
    one().restarted().min_isr_set().cordoned(&[2, 3]).topic("t", 1, &[1])
}

#[test]
fn what_comes_first_when_servers_leave() {
    check(one(), "place");
    check(one().voters(&[1, 2, 3]), "restart staying");
    check(one().restarted().voters(&[1, 2, 3]), "cordon");
    // Where new topics stay as they are, nothing is restarted.
    let five = || Cluster::running(5).shrinks(3).all_informed().voters(&[1, 2, 3]);
    check(five(), "cordon");
    check(five().cordoned(&[4, 5]).topic("t", 2, &[1, 4, 5]), "move");
    check(five().cordoned(&[1, 4, 5]), "cordon");
    // Min ISR first, or what is dropped stays in the ELR.
    check(ready().topic("t", 2, &[1, 2, 3]), "set min isr to 1");
    check(ready().min_isr_set().topic("t", 1, &[1, 2, 3]), "note replicas");
    let noted = || {
        ready().remembers(|memory| {
            memory.replicas.insert("t".into(), 3);
        })
    };
    check(noted().min_isr_set().topic("t", 1, &[1, 2, 3]), "move");
    // A topic that was made since with more replicas than would be left.
    let wide = || five().cordoned(&[4, 5]).topic("t", 2, &[1, 2, 3, 4, 5]);
    check(wide(), "wait: move blocked (too many replicas)");
}

#[test]
fn votes_go_one_at_a_time_and_only_once_nothing_else_is_left() {
    check(empty().voters(&[1, 2, 3]), "begin removing");
    let removing = || empty().removing();
    check(removing().voters(&[1, 2, 3]), "remove voter of 2");
    // The active controller goes last, one that is down first.
    check(removing().voters(&[2, 1, 3]), "remove voter of 3");
    check(removing().voters(&[1, 2, 3]).controller_lags(3), "remove voter of 3");
    check(removing().voters(&[2, 1, 3]).controller_lags(1), "wait: votes pending (majority)");
    check(removing().voters(&[1, 3]).controller_lags(3), "wait: votes pending (one of two)");
    check(removing().voters(&[1, 3]), "remove voter of 3");
    check(removing().voters(&[1]), "stop leaving");
    check(removing().topic("late", 1, &[3]).voters(&[1, 2, 3]), "move");
}

#[test]
fn brokers_stop_under_a_ticket_and_servers_go_last() {
    let told = || empty().told_to_leave().voters(&[1]);
    check(told(), "look");
    check(told().looked_at(), "open ticket of 2");
    check(told().looked_at().let_stop(2), "wait: leaving 2");
    let first = || told().informed(&[2]).reports(2, Phase::Stopped).fenced(2).looked_at();
    check(first(), "2: hibernate");
    check(first().removed(2), "open ticket of 3");
    let both = || told().all_informed().reports(2, Phase::Stopped).reports(3, Phase::Stopped);
    check(both(), "each: hibernate");
    let gone = || both().hibernated(&[2, 3]);
    check(gone(), "each: remove leaving");
    check(both().removed(2).removed(3), "end resize");
}

/// A topic was made on a broker while it stopped, so no other broker has its records.
#[test]
fn a_broker_with_the_last_replica_runs_again_to_give_it_away() {
    let told = || empty().told_to_leave().voters(&[1]);
    let let_go = || told().let_stop(2).let_stop(3).with(|world| world.ticket = None);
    let stopped = || let_go().reports(2, Phase::Stopped).reports(3, Phase::Stopped);
    let late = |cluster: Cluster| cluster.topic("late", 1, &[3]).but(|it| it.leader = None);
    check(late(stopped()), "start leaving of 3");
    check(late(stopped().hibernated(&[2, 3])), "start leaving of 3");
    let again = || late(stopped().hibernated(&[2, 3]).with(runs_again));
    check(again(), "3: ensure server, publish");
    // Another server has it too.
    check(stopped().topic("late", 1, &[1, 3]), "note replicas");
}

fn runs_again(world: &mut World) {
    let server = &mut world.servers[2].server;
    server.wanted = server.wanted.start().unwrap();
}

/// Its agent died before it could say that its broker has stopped, which may still run.
#[test]
fn an_agent_that_died_while_its_broker_stopped_is_started_again() {
    let told = || empty().told_to_leave().voters(&[1]).all_informed();
    let dead = || told().reports(2, Phase::Stopped).reports(3, Phase::Stopping).unconfirmed(&[3]);
    check(dead().removed(2).still_serves(3), "3: ensure server");
    check(dead().removed(2), "3: hibernate");
}

#[test]
fn a_leaving_server_that_is_dead_holds_nothing_up() {
    let dead = || Cluster::running(5).shrinks(3).all_informed().reports(5, Phase::Failed);
    check(dead(), "place");
    let seen = || dead().cordoned(&[4]).voters(&[1, 2, 3]).topic("t", 2, &[1, 4, 5]);
    check(seen(), "move");
    let lost = || seen().but(|it| it.in_sync = vec![1]);
    check(lost(), "move");
    let empty = || dead().cordoned(&[4]).voters(&[1, 2, 3]).topic("t", 2, &[1, 2, 3]);
    check(empty().told_to_leave().looked_at(), "5: hibernate");
    check(empty().told_to_leave().looked_at().removed(5), "open ticket of 4");
    let stopped = || empty().told_to_leave().all_informed().reports(4, Phase::Stopped);
    check(stopped(), "each: hibernate");
}

/// Others can't be restarted before what it held has moved.
#[test]
fn restarts_come_last_where_a_server_that_leaves_is_gone() {
    let gone = || one().reports(3, Phase::Failed).fenced(3).voters(&[1, 2, 3]);
    check(gone(), "cordon");
    let unheard = || one().last_seen(3, SignedDuration::from_mins(2)).fenced(3);
    check(unheard().voters(&[1, 2, 3]), "cordon");
    // It does not say so, and Kafka lets it serve.
    check(one().last_seen(3, SignedDuration::from_mins(2)).voters(&[1, 2, 3]), "restart staying");
    let noted = || {
        gone().cordoned(&[2]).min_isr_set().remembers(|memory| {
            memory.replicas.insert("t".into(), 3);
        })
    };
    let lacks_one = |cluster: Cluster| cluster.but(|it| it.in_sync = vec![1, 2]);
    check(lacks_one(noted().topic("t", 1, &[1, 2, 3])), "move");
    // It went while the restart was due already.
    let due = || noted().restart(&[1]).looked_at();
    check(lacks_one(due().topic("t", 1, &[1, 2, 3])), "move");
    check(due().topic("t", 1, &[1]), "begin removing");
    // A broker does not restart while it is one of two that vote.
    let two = || due().topic("t", 1, &[1]).removing().voters(&[1, 2]);
    check(two(), "remove voter of 2");
    // Told to stop for good, it is as silent as before, and nothing comes before its removal.
    let silent = unheard().cordoned(&[2]).min_isr_set().topic("t", 1, &[1]).told_to_leave();
    check(silent.voters(&[1]), "3: hibernate");
    let told = gone().cordoned(&[2]).min_isr_set().topic("t", 1, &[1]).told_to_leave();
    check(told.voters(&[1]).all_informed().removed(2).removed(3), "restart staying");
}

/// It may never answer again, and the others do without it.
#[test]
fn a_leaving_broker_that_hangs_or_lags_keeps_no_other_from_its_restart() {
    let five = || {
        let cluster = Cluster::running(5).shrinks(3).all_informed().voters(&[1, 2, 3]);
        cluster.cordoned(&[4, 5]).topic("t", 2, &[1, 2, 3]).restart(&[1]).looked_at()
    };
    check(five(), "open ticket of 1");
    check(five().unresponsive(5), "open ticket of 1");
    check(five().unresponsive_to_us(5), "open ticket of 1");
    check(five().unresponsive(2), "wait: catching up (unresponsive)");
    let on_it = || five().topic("u", 2, &[1, 2, 5]);
    check(on_it().unresponsive(5), "wait: blocked 1 (too few in sync)");
    check(on_it().but(|it| it.in_sync = vec![1, 2]), "wait: blocked 1 (too few in sync)");
    check(five().topic("u", 1, &[1, 2, 5]).but(|it| it.in_sync = vec![1, 2]), "open ticket of 1");
}

#[test]
fn what_leaves_stays_if_it_is_undone() {
    let undone = || {
        let cluster = ready().undone().remembers(|memory| memory.rendered_for = Some(1));
        cluster.all_informed()
    };
    check(undone().topic("t", 2, &[1, 2, 3]), "cordon");
    let open = || one().undone().all_informed().voters(&[1, 2, 3]);
    // What was dropped comes back.
    let dropped = || {
        open().remembers(|memory| {
            memory.replicas.insert("t".into(), 3);
        })
    };
    check(dropped().topic("t", 1, &[1]), "move");
    check(dropped().topic("t", 1, &[1, 2, 3]), "end resize");
    let lowered = || open().remembers(|memory| memory.min_isr = Some(1));
    check(lowered().topic("t", 1, &[1, 2, 3]), "set min isr to 2");
    // A control plane died after it asked Kafka for that, so it may be so.
    let asked = || open().remembers(|memory| memory.min_isr_asked = Some(1));
    check(asked().topic("t", 2, &[1, 2, 3]), "set min isr to 2");
    let own = || {
        open().remembers(|memory| {
            memory.lowered.insert("t".into(), Some(2));
        })
    };
    check(own().topic("t", 1, &[1, 2, 3]), "put back min isr");
    let lags = |cluster: Cluster| cluster.topic("t", 1, &[1, 2, 3]).but(|it| it.in_sync = vec![1]);
    check(lags(own()), "wait: move blocked (lagging)");
    check(lags(lowered()), "wait: move blocked (lagging)");
    check(open().remembers(|memory| memory.rendered_for = Some(1)), "restart staying");
    // Servers that were to leave were not restarted when the others were, as for another family.
    let others = |rendered_for| {
        let five = Cluster::running(5).shrinks(3).undone().all_informed().voters(&[1, 2, 3]);
        five.remembers(|memory| memory.rendered_for = rendered_for)
    };
    check(others(Some(3)), "restart staying");
    check(others(Some(5)), "end resize");
    check(others(None), "end resize");
}
