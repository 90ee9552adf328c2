//! Servers that are stopped alone, and clusters that are stopped as a whole.

use super::{Cluster, check};
use wire::agent::Phase;

fn three() -> Cluster {
    Cluster::running(3)
}

#[test]
fn a_server_is_stopped_and_started() {
    let stop = || three().stop(&[3]);
    check(stop(), "look");
    check(stop().looked_at(), "open ticket of 3");
    check(stop().looked_at().ticket(Some(3)), "3: publish");
    let told = || stop().looked_at().let_stop(3);
    check(told(), "wait: leaving 3");
    check(told().reports(3, Phase::Stopping), "close ticket");
    let stopping = || stop().ticket(Some(3)).informed(&[3]).with(|world| world.ticket = None);
    check(stopping().reports(3, Phase::Stopping), "wait: to stop 3");
    let stopped = || stopping().reports(3, Phase::Stopped);
    check(stopped(), "look");
    check(stopped().looked_at(), "reach");
    check(stopped().reached(), "wait: running, stopped 3");
    // Started again.
    check(stopped().reached().start(&[3]), "3: publish");
    let started = || stopped().reached().start(&[3]).informed(&[3]);
    check(started(), "wait: broker down 3");
    check(started().reports(3, Phase::Starting), "wait: starting 3");
    check(started().reports(3, Phase::Running).looked_at(), "reach");
}

#[test]
fn a_stop_waits_for_what_the_others_need() {
    let two_copies = || three().stop(&[3]).looked_at().partition(&[2, 3], &[2, 3]);
    check(two_copies().min_in_sync(1), "open ticket of 3");
    check(two_copies().min_in_sync(2), "wait: blocked 3 (too few in sync)");
    // A second server, while the first is stopped: the quorum would be lost.
    let second = || {
        let first = three().stop(&[3]).ticket(Some(3)).informed(&[3]).reports(3, Phase::Stopped);
        first.with(|world| world.ticket = None).reached().stop(&[2]).looked_at().lagging(3)
    };
    check(second().min_in_sync(1), "wait: blocked 2 (quorum lost)");
}

#[test]
fn a_broker_that_starts_is_let_come_up_before_it_is_stopped() {
    let starting = || three().reports(2, Phase::Starting).stop(&[2]);
    check(starting(), "wait: to stop once started 2");
    check(starting().reports(2, Phase::Running), "look");
    // An agent that has not reported leaves open whether its broker runs.
    check(three().stop(&[3]).unreported(3), "wait: not reported yet 3");
    // One that is down is told at once.
    check(three().reports(2, Phase::Failed).stop(&[2]), "2: publish");
}

#[test]
fn a_cluster_is_stopped_all_at_once() {
    let stop = || three().cluster_stop();
    check(stop(), "note stopping");
    let noted = || stop().not_ready();
    check(noted(), "open ticket");
    check(noted().ticket(None), "each: publish");
    let told = || noted().ticket(None).all_informed();
    check(told(), "wait: cluster stopping 1, cluster stopping 2, cluster stopping 3");
    check(told().ticket_is_old(), "open ticket");
    check(told().ticket_expires(), "open ticket");
    check(told().reports(2, Phase::Stopped), "2: hibernate");
    check(told().all_report(Phase::Stopped), "each: hibernate");
    check(told().unconfirmed(&[1]), "1: ensure server");
    let asleep = || told().hibernated(&[1, 2, 3]);
    check(asleep(), "close ticket, note stopped");
    check(asleep().with(|world| world.ticket = None), "note stopped");
    check(asleep().with(|world| world.ticket = None).reached(), "wait: stopped");
    check(told().hibernated(&[1]), "wait: cluster stopping 2, cluster stopping 3");
}

#[test]
fn a_cluster_is_started_again() {
    let asleep = || {
        let told = three().cluster_stop().not_ready().ticket(None).all_informed();
        told.hibernated(&[1, 2, 3]).with(|world| world.ticket = None).reached()
    };
    check(asleep().cluster_start(), "each: ensure server, publish");
    // Taken back while it stops: no agent may stop its broker any more.
    let taken_back = || three().cluster_stop().not_ready().ticket(None).cluster_start();
    check(taken_back(), "close ticket");
    check(taken_back().with(|world| world.ticket = None), "check login");
    // A server that is held keeps no customer out.
    let two_run = || three().not_ready().asked().disk_lost(3);
    check(two_run(), "check login");
    check(two_run().disk_lost(2), "wait: held 2, held 3");
    // One that is to stop and still runs stands for no other.
    let two_left = || three().stop(&[2]).not_ready().reports(3, Phase::Starting);
    check(two_left(), "wait: to stop 2, starting 3");
}

/// What was asked before goes on after the next start, so not all of it is reached.
#[test]
fn a_stop_in_the_middle_of_a_change_of_servers_does_not_end_the_change() {
    let stopped = || three().shrinks(1).cluster_stop().all_informed().hibernated(&[1, 2, 3]);
    let noted = |generations| {
        stopped().with(move |world| {
            world.instance.progress.ready_at = None;
            world.instance.progress.observed_generation = world.instance.generation - generations;
        })
    };
    check(noted(2), "note stopped");
    check(noted(1), "wait: stopped");
    assert!(!noted(1).world().instance.configured());
}
