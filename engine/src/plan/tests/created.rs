//! From rows to a cluster that customers can use.

use super::{Cluster, check};
use model::DiskState;
use wire::agent::Phase;

#[test]
fn a_cluster_is_made_in_order() {
    check(Cluster::planned(3).not_taken_over(), "take over");
    check(Cluster::planned(3), "make network");
    let made = || Cluster::planned(3).network_made();
    check(made(), "each: make disk, ensure server, render");
    check(
        made().disk(1, DiskState::Made),
        "1: ensure server, allow format, render | 2: make disk, ensure server, render | \
         3: make disk, ensure server, render",
    );
    let ready = || Cluster::provisioned(3);
    check(ready(), "wait: preparing 1, preparing 2, preparing 3");
    check(ready().asks_for_certificate(2), "2: issue certificates");
    check(ready().unrendered(2), "2: render");
    check(ready().unconfirmed(&[3]), "3: ensure server");
    check(ready().disk(2, DiskState::Planned), "2: make disk, publish");
}

#[test]
fn customers_come_in_once_every_broker_runs() {
    let started = || Cluster::provisioned(3).all_report(Phase::Running);
    check(started(), "each: seal format");
    let told = "1: publish | 2: publish | 3: publish | set credentials, check login";
    check(started().formatted(), told);
    let running = || started().formatted().all_informed();
    check(running(), "set credentials, check login");
    let waiting = || running().with(|world| world.instance.progress.credentials_set = true);
    check(waiting(), "check login");
    check(waiting().reports(2, Phase::Starting), "wait: starting 2");
    check(waiting().reports(2, Phase::Failed), "wait: failing 2");
    check(waiting().disk_lost(3), "wait: held 3");
    check(Cluster::running(3).not_ready(), "check login");
    check(Cluster::running(3).without_credentials(), "set credentials, check login");
    check(Cluster::running(3), "wait: running");
}

#[test]
fn credentials_are_written_once_most_controllers_run() {
    let first = |phase| Cluster::provisioned(3).reports(2, phase);
    check(first(Phase::Starting), "wait: preparing 1, starting 2, preparing 3");
    check(first(Phase::Running), "2: seal format");
    let sealed = || first(Phase::Running).disk(2, DiskState::Formatted);
    check(sealed(), "2: publish");
    let second = || sealed().reports(3, Phase::Running).disk(3, DiskState::Formatted);
    check(second(), "2: publish | 3: publish | set credentials");
    check(second().all_informed(), "set credentials");
    let written = second().all_informed();
    let written = written.with(|world| world.instance.progress.credentials_set = true);
    check(written, "wait: preparing 1");
    let all = || Cluster::running(3).not_ready();
    // The last one to come is looked at, and customers are let in beside that.
    check(all().unconfirmed(&[3]), "3: ensure server | check login");
    check(all().disk(3, DiskState::Formatting), "3: seal format, publish");
}

#[test]
fn servers_without_a_controller_start_after_the_quorum() {
    let five = || Cluster::provisioned(5);
    check(five(), "wait: preparing 1, preparing 2, preparing 3, preparing 4, preparing 5");
    let waiting = || five().reports(4, Phase::Stopped).reports(5, Phase::Stopped).formatted();
    let waiting = || waiting().all_informed();
    let waiting = || waiting().with(|world| world.instance.progress.credentials_set = true);
    let one = || waiting().reports(1, Phase::Running);
    check(one(), "wait: preparing 2, preparing 3, after controllers 4, after controllers 5");
    check(one().reports(2, Phase::Running), "4: publish | 5: publish");
    // A controller that can't start for want of its disk keeps no other server from starting.
    check(one().reports(2, Phase::Running).disk_lost(3), "4: publish | 5: publish");
}

#[test]
fn a_first_disk_is_formatted_once() {
    let at = |state| Cluster::provisioned(1).disk(1, state).informed(&[1]);
    check(at(DiskState::Made), "1: allow format");
    check(at(DiskState::Formatting), "wait: preparing 1");
    check(at(DiskState::Formatting).reports(1, Phase::Running), "1: seal format");
    check(at(DiskState::Formatted).reports(1, Phase::Starting), "wait: starting 1");
}

#[test]
fn what_was_made_is_removed_with_its_data() {
    let deleted = || Cluster::running(3).delete();
    check(deleted(), "each: remove server");
    check(deleted().not_taken_over(), "take over");
    check(deleted().removed(1), "each: remove server");
    check(deleted().removed(1).removed(2).removed(3), "forget");
    check(Cluster::planned(1).delete(), "1: remove server");
    check(deleted().cluster_stop(), "each: remove server");
}
