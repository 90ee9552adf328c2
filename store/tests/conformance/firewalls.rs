//! Firewall rules, and how far servers are with them.

use crate::fixture::*;
use model::*;
use store::*;

fn from(ip: &str) -> Firewall {
    let rule = FirewallRule { ip: ip.parse().unwrap(), ..FirewallRule::default_rule() };
    Firewall::new(vec![rule])
}

async fn set(f: &Fixture, instance: InstanceId, firewall: &Firewall) -> i64 {
    let mut work = f.store.begin().await.unwrap();
    let revision = firewalls::set(&mut work, instance, firewall).await.unwrap();
    work.commit().await.unwrap();
    revision
}

async fn find(f: &Fixture, instance: InstanceId) -> (Firewall, i64) {
    let found = firewalls::find(&mut f.store.reader(), instance).await.unwrap();
    (found.firewall, found.revision)
}

pub async fn every_change_of_the_rules_has_its_revision(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    assert_eq!(find(&f, instance.id).await, (Firewall::default(), 1));
    let rules = from("203.0.113.0/24");
    assert_eq!(set(&f, instance.id, &rules).await, 2);
    assert_eq!(find(&f, instance.id).await, (rules, 2));
    assert_eq!(set(&f, instance.id, &Firewall::default()).await, 3, "back to the default");
    assert_eq!(find(&f, instance.id).await, (Firewall::default(), 3));
    assert_eq!(find(&f, other.id).await, (Firewall::default(), 1), "another's are its own");
}

pub async fn a_server_has_a_turn_once_it_is_there(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, _) = f.instance(account, 9000).await;
    let turns = async || firewalls::turns_on(&mut f.store.reader(), server.host_id).await.unwrap();
    assert_eq!(turns().await, [], "nothing of it is there");
    let mut work = f.store.begin().await.unwrap();
    servers::set_made(&mut work, server.id).await.unwrap();
    work.commit().await.unwrap();
    let turn = |revision, applied, enforced| FirewallTurn {
        server_id: server.id,
        instance_id: instance.id,
        region: instance.region.clone(),
        subnet: "10.192.0.0/24".parse().unwrap(),
        revision,
        applied,
        enforced,
    };
    assert_eq!(turns().await, [turn(1, 0, false)]);
    set(&f, instance.id, &from("203.0.113.0/24")).await;
    assert_eq!(turns().await, [turn(2, 0, false)]);
    let mut work = f.store.begin().await.unwrap();
    let outdated = firewalls::Applied { before: 1, revision: 2, enforced: true };
    assert!(!firewalls::set_applied(&mut work, server.id, outdated).await.unwrap());
    let applied = firewalls::Applied { before: 0, ..outdated };
    assert!(firewalls::set_applied(&mut work, server.id, applied).await.unwrap());
    work.commit().await.unwrap();
    assert_eq!(turns().await, [turn(2, 2, true)]);
    let progress = firewalls::progress(&mut f.store.reader(), instance.id).await.unwrap();
    let name = server.name.clone();
    let expected = FirewallProgress { name, state: ServerState::Made, revision: 2, enforced: true };
    assert_eq!(progress, std::slice::from_ref(&expected));
    let mut work = f.store.begin().await.unwrap();
    servers::set_hibernated(&mut work, server.id).await.unwrap();
    work.commit().await.unwrap();
    let progress = firewalls::progress(&mut f.store.reader(), instance.id).await.unwrap();
    let state = ServerState::Hibernated;
    assert_eq!(progress, [FirewallProgress { state, revision: 0, ..expected }]);
    assert_eq!(turns().await, [], "its cloud has it no more");
    let mut work = f.store.begin().await.unwrap();
    servers::set_made(&mut work, server.id).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(turns().await, [turn(2, 0, true)], "the new one has nothing");

    let elsewhere = HostId(f.entropy.uuid());
    let others = firewalls::turns_on(&mut f.store.reader(), elsewhere).await.unwrap();
    assert_eq!(others, [], "it is on another host");
    let mut work = f.store.begin().await.unwrap();
    pauses::set(&mut work, instance.id, true, now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(turns().await, [], "it is paused");
    let mut work = f.store.begin().await.unwrap();
    pauses::set(&mut work, instance.id, false, now()).await.unwrap();
    instances::set_deleted(&mut work, instance.id, now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(turns().await, [], "it is torn down");
}

pub async fn rules_go_with_their_instance(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, disk) = f.instance(account, 9000).await;
    set(&f, instance.id, &from("203.0.113.0/24")).await;
    let mut work = f.store.begin().await.unwrap();
    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    instances::remove(&mut work, instance.id).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(find(&f, instance.id).await, (Firewall::default(), 1));
}
