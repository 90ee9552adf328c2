//! When a server gets its firewall rules: once it is there, again when they change, and again
//! when somebody took them away. And that nothing which is stuck holds that up.

use crate::world::World;
use cloud::{Call, Effect, Fault};
use engine::{Networks, Rest, Settings};
use kafka::client::{Acl, Admin as _};
use model::*;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use store::{FirewallProgress, firewalls, instances, pauses, servers, vpcs};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);

async fn settle(world: &World) {
    Networks::new(Arc::new(world.engine())).settle().await.unwrap();
}

/// The range that a rule lets in, beside the VPC itself.
async fn let_in(world: &World, id: InstanceId, ip: &str) -> i64 {
    let rule = FirewallRule { ip: ip.parse().unwrap(), ..FirewallRule::default_rule() };
    let mut work = world.store.begin().await.unwrap();
    let revision = firewalls::set(&mut work, id, &Firewall::new(vec![rule])).await.unwrap();
    work.commit().await.unwrap();
    revision
}

/// What every server of the instance has of its rules.
async fn progress(world: &World, id: InstanceId) -> Vec<(i64, bool)> {
    let found = firewalls::progress(&mut world.store.reader(), id).await.unwrap();
    found.iter().map(|FirewallProgress { revision, enforced, .. }| (*revision, *enforced)).collect()
}

/// The ranges that the cloud lets in at each server, with their ports.
async fn open(world: &World, id: InstanceId) -> Vec<String> {
    let one = |opening: &Opening| format!("{} {:?}", opening.from, opening.ports);
    let of = |server: &Server| {
        let openings = world.cloud.openings(server.id)?;
        Some(openings.iter().map(one).collect::<Vec<_>>().join(", "))
    };
    let servers = servers::list_bare(&mut world.store.reader(), id).await.unwrap();
    servers.iter().map(|server| of(server).unwrap_or_default()).collect()
}

#[tokio::test]
async fn every_server_has_the_rules_as_they_are_now() {
    let world = World::new().await;
    let id = world.create(3).await;
    settle(&world).await;
    assert_eq!(progress(&world, id).await, [(0, false); 3], "no server is there yet");
    world.cloud.enforce_firewalls(true);
    world.run(&world.engine(), id).await;
    settle(&world).await;
    assert_eq!(progress(&world, id).await, [(1, true); 3]);
    let vpc = world.instance(id).await.unwrap().vpc_id;
    let vpc = vpcs::find(&mut world.store.reader(), vpc).await.unwrap().unwrap().subnet;
    let expected = format!("0.0.0.0/0 {{9093, 9094}}, {vpc} {{9092, 9093, 9094}}");
    assert_eq!(open(&world, id).await, vec![expected; 3]);

    let revision = let_in(&world, id, "203.0.113.0/24").await;
    assert_eq!(revision, 2);
    world.cloud.fail_next(Call::ApplyFirewall, Fault::Retry, 1);
    world.cloud.fail_next(Call::ApplyFirewall, Fault::LostReply, 1);
    world.cloud.fail_next(Call::ApplyFirewall, Fault::Pending, 1);
    settle(&world).await;
    assert_eq!(progress(&world, id).await, [(1, true); 3], "none of them is certain");
    settle(&world).await;
    assert_eq!(progress(&world, id).await, [(2, true); 3]);
    let expected = format!("{vpc} {{9092, 9093, 9094}}, 203.0.113.0/24 {{9093, 9094}}");
    assert_eq!(open(&world, id).await, vec![expected.clone(); 3]);

    for server in servers::list_bare(&mut world.store.reader(), id).await.unwrap() {
        world.cloud.flush_firewall(server.id);
    }
    settle(&world).await;
    assert_eq!(open(&world, id).await, vec![expected; 3], "what was taken away is put back");
}

#[tokio::test]
async fn a_cloud_that_enforces_nothing_says_so() {
    let world = World::new().await;
    let id = world.create(1).await;
    world.run(&world.engine(), id).await;
    settle(&world).await;
    assert_eq!(progress(&world, id).await, [(1, false)]);
}

#[tokio::test]
async fn rules_wait_while_the_engine_is_paused_and_end_with_their_instance() {
    let world = World::new().await;
    world.cloud.enforce_firewalls(true);
    let id = world.create(1).await;
    world.run(&world.engine(), id).await;
    settle(&world).await;
    let revision = let_in(&world, id, "203.0.113.0/24").await;
    let now = world.clock.now();
    let mut work = world.store.begin().await.unwrap();
    pauses::set(&mut work, id, true, now).await.unwrap();
    work.commit().await.unwrap();
    settle(&world).await;
    assert_eq!(progress(&world, id).await, [(1, true)]);

    let mut work = world.store.begin().await.unwrap();
    pauses::set(&mut work, id, false, now).await.unwrap();
    instances::set_deleted(&mut work, id, now).await.unwrap();
    work.commit().await.unwrap();
    settle(&world).await;
    assert_eq!(progress(&world, id).await, [(1, true)], "it is torn down; was {revision}");
    world.run(&world.engine(), id).await;
    let mut reader = world.store.reader();
    assert_eq!(firewalls::find(&mut reader, id).await.unwrap().revision, 1, "nothing is left");
}

/// A host changes the rules of its own servers alone.
#[tokio::test]
async fn servers_of_another_host_are_left_alone() {
    let world = World::new().await;
    let id = world.create(1).await;
    world.run(&world.engine(), id).await;
    Networks::new(Arc::new(world.other_engine())).settle().await.unwrap();
    assert_eq!(progress(&world, id).await, [(0, false)]);
}

/// Deleted networks of the account of that instance, in which nobody lives.
async fn deleted_networks(world: &World, beside: InstanceId, ids: Range<i64>) -> Vec<VpcId> {
    let mut work = world.store.begin().await.unwrap();
    let beside = world.instance(beside).await.unwrap();
    let mut all = Vec::new();
    for id in ids {
        let vpc = Vpc {
            id: VpcId(id),
            account_id: beside.account_id,
            name: "net".into(),
            region: beside.region.clone(),
            subnet: format!("10.9.{}.0/24", id - 900).parse().unwrap(),
            tags: Tags::default(),
            provider_id: world.entropy.uuid(),
            made_for: None,
            created_at: world.clock.now(),
            deleted_at: None,
        };
        vpcs::insert(&mut work, &vpc).await.unwrap();
        vpcs::set_deleted(&mut work, vpc.id, world.clock.now()).await.unwrap();
        all.push(vpc.id);
    }
    work.commit().await.unwrap();
    all
}

async fn is_on_record(world: &World, vpc: VpcId) -> bool {
    vpcs::find(&mut world.store.reader(), vpc).await.unwrap().is_some()
}

/// Lets the task run until that is so, and stops it.
async fn run_until(world: &World, what: &str, is_so: impl AsyncFn() -> bool) {
    let stop = CancellationToken::new();
    let networks = Networks::new(Arc::new(world.engine()));
    let running = tokio::spawn(networks.run(stop.clone()));
    let seen = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let is_seen = tokio::time::timeout(PATIENCE, seen).await.is_ok();
    stop.cancel();
    tokio::time::timeout(PATIENCE, running).await.expect("a stop waits for no chore").unwrap();
    assert!(is_seen, "{what}");
}

#[tokio::test]
async fn a_removal_that_is_stuck_holds_up_nothing_else() {
    let world = World::new().await;
    world.cloud.enforce_firewalls(true);
    let id = world.create(1).await;
    world.run(&world.engine(), id).await;
    let (stuck, next) = (VpcId(901), VpcId(902));
    deleted_networks(&world, id, 901..903).await;
    world.cloud.block_removal(stuck, true);
    run_until(&world, "the next one is removed, and rules are applied", async || {
        !is_on_record(&world, next).await && progress(&world, id).await == [(1, true)]
    })
    .await;
    assert!(is_on_record(&world, stuck).await, "its range stays taken");
}

/// Somebody deletes more networks than are removed at a time, and the cloud can't remove any.
#[tokio::test]
async fn rules_are_applied_however_many_removals_are_stuck() {
    let world = World::new().await;
    world.cloud.enforce_firewalls(true);
    let id = world.create(3).await;
    world.run(&world.engine(), id).await;
    for vpc in deleted_networks(&world, id, 901..941).await {
        world.cloud.block_removal(vpc, true);
    }
    // Nor does a server on which rules are stuck.
    let servers = servers::list_bare(&mut world.store.reader(), id).await.unwrap();
    world.cloud.block_firewall(servers[1].id);
    let_in(&world, id, "203.0.113.0/24").await;
    run_until(&world, "the others have their rules", async || {
        progress(&world, id).await == [(2, true), (0, false), (2, true)]
    })
    .await;
}

/// The last step of an instance leaves a network that is stuck to the task.
#[tokio::test]
async fn an_instance_goes_though_the_removal_of_its_network_is_stuck() {
    let world = World::new().await;
    let id = world.create(1).await;
    let settings = Settings { removal_patience: Duration::from_millis(50), ..Settings::default() };
    let engine = world.engine_with(world.installation.host_id, settings);
    world.run(&engine, id).await;
    let vpc = world.instance(id).await.unwrap().vpc_id;
    world.cloud.block_removal(vpc, true);
    world.delete(id).await;
    assert_eq!(world.run(&engine, id).await, Rest::Gone);
    assert!(is_on_record(&world, vpc).await, "its range stays taken");

    world.cloud.block_removal(vpc, false);
    settle(&world).await;
    assert!(!is_on_record(&world, vpc).await);
    let removed = Effect::NetworkRemoved(vpc);
    assert!(world.cloud.effects().contains(&removed), "{:?}", world.cloud.effects());
}

/// 9092 has no login: whoever comes there may do something only where rules keep strangers out.
#[tokio::test]
async fn clients_without_a_login_have_rights_where_rules_are_enforced() {
    let world = World::new().await;
    let (engine, id) = (world.engine(), world.create(1).await);
    world.run(&engine, id).await;
    settle(&world).await;
    world.run(&engine, id).await;
    assert_eq!(anonymous_rights(&world, id).await, Vec::<String>::new());

    for (enforces, expected) in [
        (true, &["All on Group *", "All on Topic *", "All on TransactionalId *"][..]),
        (false, &[]),
        (true, &["All on Group *", "All on Topic *", "All on TransactionalId *"]),
    ] {
        world.cloud.enforce_firewalls(enforces);
        settle(&world).await;
        world.run(&engine, id).await;
        assert_eq!(anonymous_rights(&world, id).await, expected, "{enforces}");
        let progress = world.instance(id).await.unwrap().progress;
        assert_eq!(progress.anonymous_let_in, enforces);
    }
}

/// What Kafka lets them do, in order.
async fn anonymous_rights(world: &World, id: InstanceId) -> Vec<String> {
    let cluster = world.cluster(id).await;
    let acls = world.kafka.describe_acls(&cluster, kafka::rights::ANONYMOUS).await.unwrap();
    let one = |acl: &Acl| format!("{:?} on {:?} {}", acl.operation, acl.resource_type, acl.pattern);
    let mut all: Vec<String> = acls.iter().map(one).collect();
    all.sort();
    all
}
