//! Certificates that near their end.

use super::{Cluster, check, plan};
use crate::desired::{INTERNAL, SERVER};
use crate::plan::{LOOK_AT_HEALTHY, renewal};
use model::{SeededEntropy, SignedDuration, Timestamp};
use pki::{Authority, Leaf, Usage};
use std::time::Duration;
use wire::agent::DesiredCertificate;

fn days(number: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * number)
}

fn authority(name: &str, now: Timestamp) -> Authority {
    Authority::create(name, now, &SeededEntropy::new(1)).unwrap()
}

fn certificate(authority: &Authority, name: &str, at: Timestamp) -> DesiredCertificate {
    let (common_name, hosts) = ("broker-1".to_owned(), vec!["127.64.0.1".to_owned()]);
    let leaf = Leaf { common_name, hosts, usage: Usage::Both, valid_for: days(30) };
    let (issued, _) = authority.issue_with_key(&leaf, at, &SeededEntropy::new(2)).unwrap();
    DesiredCertificate { name: name.to_owned(), generation: 1, certificate: Some(issued) }
}

/// Every server's certificates were issued so many days ago, for thirty days.
fn issued(days_ago: i64) -> Cluster {
    let certified = Cluster::running(3).with(|world| {
        let at = world.now - days(days_ago);
        let (internal, server) = (authority("internal", at), authority("server", at));
        world.trust.internal.clone_from(&internal.certificate);
        world.trust.server.clone_from(&server.certificate);
        world.certificate_life = "30d".parse().unwrap();
        for view in &mut world.servers {
            let both = [(&internal, INTERNAL), (&server, SERVER)];
            let both = both.map(|(authority, name)| certificate(authority, name, at));
            view.desired.as_mut().unwrap().certificates = both.into();
        }
    });
    certified.all_informed()
}

/// The agent has been asked for keys of the next generation.
fn renewing(number: u32) -> Cluster {
    issued(20).with(|world| {
        let mut views = world.servers.iter_mut();
        views.find(|view| view.server.number == number).unwrap().server.certificate_generation = 2;
    })
}

#[test]
fn certificates_are_renewed_at_two_thirds_of_their_life() {
    check(issued(0), "wait: running");
    check(issued(19), "wait: running");
    check(issued(20), "each: renew certificates");
    check(issued(29), "each: renew certificates");
    check(
        issued(20).unconfirmed(&[1]),
        "1: ensure server, renew certificates | \
        2: renew certificates | 3: renew certificates",
    );
}

#[test]
fn a_renewal_asks_the_agent_for_new_keys() {
    check(renewing(1), "1: publish | 2: renew certificates | 3: renew certificates");
    let asked = || renewing(1).informed(&[1]);
    check(asked(), "2: renew certificates | 3: renew certificates");
    let answered = asked().asks_for_certificate(1).report(1, |report| {
        report.requests[0].generation = 2;
    });
    check(answered, "1: issue certificates | 2: renew certificates | 3: renew certificates");
}

#[test]
fn a_wait_ends_with_the_next_renewal() {
    let waits = |cluster: Cluster| plan(&cluster.world()).wait.after;
    assert_eq!(waits(issued(0)), LOOK_AT_HEALTHY);
    let soon = issued(0).with(|world| {
        let due = renewal::due(world, &world.servers[0]).unwrap();
        world.now = due - SignedDuration::from_secs(3);
        for view in &mut world.servers {
            view.server.last_seen = Some(world.now);
        }
    });
    assert_eq!(waits(soon), Duration::from_secs(3));
}
