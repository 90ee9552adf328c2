//! What is said of a cluster while nothing is to be done.

use super::{Cluster, check};
use model::SignedDuration;
use wire::agent::Phase;

fn three() -> Cluster {
    Cluster::running(3)
}

#[test]
fn every_wait_names_the_server_that_it_is_for() {
    check(three().reports(2, Phase::Starting), "wait: starting 2");
    check(three().reports(2, Phase::Preparing), "wait: preparing 2");
    check(three().reports(2, Phase::Stopped), "wait: broker down 2");
    check(three().reports(2, Phase::Stopping), "wait: broker stopping 2");
    check(three().reports(2, Phase::Unknown), "wait: unknown phase 2");
    check(three().unreported(2), "wait: not reported yet 2");
    check(three().unresponsive(2), "wait: unresponsive 2");
    // What a person has to mend comes first.
    let two = || three().reports(1, Phase::Starting).reports(3, Phase::Failed);
    check(two(), "wait: failing 3, starting 1");
    check(three().disk_lost(3).reports(1, Phase::Starting), "wait: held 3, starting 1");
}

#[test]
fn an_agent_that_is_not_heard_of_is_unreachable() {
    let silent = |seconds| three().last_seen(2, SignedDuration::from_secs(seconds));
    check(silent(30), "wait: running");
    check(silent(31), "wait: unreachable 2");
    // After a start of the control plane agents need a moment.
    let started = |ago| {
        silent(31).with(|world| world.started_at = world.now - SignedDuration::from_secs(ago))
    };
    check(started(30), "wait: not reported yet 2");
    check(started(31), "wait: unreachable 2");
}

#[test]
fn a_report_of_an_earlier_identity_does_not_count() {
    let re_enrolled = || three().report(2, |report| report.incarnation = 0);
    check(re_enrolled(), "wait: not reported yet 2");
    check(re_enrolled().changed_in_kafka(), "set credentials");
}
