//! What changes in a cluster that runs without a restart.

use super::{Cluster, check};
use model::SignedDuration;
use wire::agent::Phase;

fn three() -> Cluster {
    Cluster::running(3)
}

#[test]
fn what_kafka_keeps_is_written_while_a_quorum_runs() {
    let changed = || three().changed_in_kafka();
    check(changed(), "set credentials");
    check(changed().reports(3, Phase::Starting), "set credentials");
    check(
        changed().reports(2, Phase::Starting).reports(3, Phase::Starting),
        "wait: starting 2, starting 3",
    );
    check(
        changed().unresponsive(2).reports(3, Phase::Starting),
        "wait: unresponsive 2, starting 3",
    );
    // Beside what servers lack.
    check(changed().unconfirmed(&[3]), "3: ensure server | set credentials");
    check(changed().unconfirmed(&[2, 3]), "2: ensure server | 3: ensure server");
    // Before customers are in it comes with the credentials.
    check(changed().not_ready(), "set credentials, check login");
}

#[test]
fn clients_without_a_login_have_rights_where_rules_are_enforced() {
    let check = |let_in: bool, enforced: Option<bool>, expected: &str| {
        let cluster = three().firewall_enforced(enforced);
        check(if let_in { cluster.anonymous_let_in() } else { cluster }, expected);
    };
    check(false, None, "wait: running");
    check(false, Some(false), "wait: running");
    check(false, Some(true), "set credentials");
    check(true, Some(true), "wait: running");
    check(true, Some(false), "set credentials");
    // As after a restore: nobody knows.
    check(true, None, "wait: running");
}

#[test]
fn agents_hear_of_revoked_certificates_at_once() {
    check(three().revoked(), "each: publish");
    check(three().revoked().informed(&[1]), "2: publish | 3: publish");
    check(three().revoked().restart(&[2]), "each: publish");
}

#[test]
fn producers_are_slowed_while_a_disk_is_nearly_full() {
    let full = || three().disk_nearly_full(2);
    check(full(), "set credentials");
    check(full().slowed(), "wait: running, disk nearly full 2");
    check(three().slowed(), "set credentials");
    // A server that was not heard of for long takes nothing.
    check(full().slowed().last_seen(2, SignedDuration::from_mins(11)), "set credentials");
    check(full().slowed().stop(&[2]).reached(), "set credentials");
}
