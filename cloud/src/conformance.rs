//! What every cloud promises, as one suite of checks.
//!
//! A cloud's own test supplies a [`Subject`]: the cloud and the hands that
//! reach behind it (kill an agent, lose a disk). Each check gets a fresh one
//! and panics with the last answer when a promise is broken.

use crate::{
    Addresses, Agent, Cloud, DiskSpec, Disruption, Enforcement, Epoch, NetworkSpec, Outcome, Owner,
    Refusal, Remedy, ServerSpec,
};
use async_trait::async_trait;
use model::{
    DiskId, Firewall, FirewallRule, InstanceId, Listener, Listeners, Secret, ServerId, VpcId,
};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Longer than any cloud in the suite needs for one step.
const PATIENCE: Duration = Duration::from_secs(30);

/// A cloud under test, and what a test must be able to do behind its back.
#[async_trait]
pub trait Subject: Send + Sync {
    fn cloud(&self) -> &dyn Cloud;
    /// Ends the agent of a server as a crash would.
    async fn kill_agent(&self, server: ServerId);
    /// Takes a disk away as a failure would.
    async fn lose_disk(&self, disk: DiskId);
    /// Leaves data on a disk that [`Subject::has_data`] finds again.
    async fn write_on_disk(&self, disk: DiskId);
    async fn has_data(&self, disk: DiskId) -> bool;
    async fn agent_is_alive(&self, server: ServerId) -> bool;
    /// Has the cloud believe that another control plane, which may act late,
    /// works on it too; until the subject is dropped.
    async fn add_another(&self);
    /// The token that the server's agent would enrol with now.
    async fn token(&self, server: ServerId) -> Option<Secret>;
}

/// Runs every check, each on a subject of its own.
pub async fn suite<S: Subject>(make: impl AsyncFn() -> S) {
    said_twice_is_the_same(&make().await).await;
    removed_twice_is_the_same(&make().await).await;
    the_unknown_is_removed_already(&make().await).await;
    a_missing_disk_is_lost_not_new(&make().await).await;
    a_disk_of_another_is_refused(&make().await).await;
    a_disk_in_use_stays(&make().await).await;
    a_disk_outlives_its_server(&make().await).await;
    a_disk_grows_in_use(&make().await).await;
    a_higher_incarnation_ends_nothing(&make().await).await;
    an_older_incarnation_is_refused(&make().await).await;
    a_token_stays_until_there_is_another(&make().await).await;
    a_server_keeps_its_addresses(&make().await).await;
    a_dead_agent_is_told_of_and_started_anew(&make().await).await;
    a_removal_is_no_disruption(&make().await).await;
    earlier_owners_do_nothing_any_more(&make().await).await;
    an_owner_is_taken_over_before_anything_else(&make().await).await;
    a_restored_store_is_followed(&make().await).await;
    what_is_retired_stays_so(&make().await).await;
    a_firewall_is_replaced_and_ends_nothing(&make().await).await;
}

/// Whoever works on the instance while nobody takes it over.
const BY: Owner = owner(1, 1);

const fn owner(store: i64, lease: i64) -> Owner {
    Owner { instance_id: InstanceId(3), epoch: Epoch { store, lease } }
}

fn network() -> NetworkSpec {
    NetworkSpec { vpc_id: VpcId(7), subnet: "10.56.72.0/24".into() }
}

fn disk(server: i64) -> DiskSpec {
    DiskSpec {
        id: disk_id(server),
        instance_id: InstanceId(3),
        server_id: ServerId(server),
        size_gb: 10,
    }
}

fn disk_id(server: i64) -> DiskId {
    format!("00000000-0000-4000-8000-{server:012}").parse().expect("the pattern is a UUID's")
}

fn server(id: i64) -> ServerSpec {
    ServerSpec {
        id: ServerId(id),
        incarnation: 1,
        instance_id: InstanceId(3),
        vpc_id: VpcId(7),
        disk_id: disk_id(id),
        cores: 1,
        memory_mb: 512,
        addresses: addresses("127.64.0.1"),
        token: Some(Secret::new("once")),
    }
}

/// The addresses of a server that has one to itself.
pub fn addresses(host: &str) -> Addresses {
    let listener = |port| Listener { bind_host: host.into(), advertised_host: host.into(), port };
    Addresses {
        private_ip: host.into(),
        listeners: Listeners {
            plaintext: Some(listener(9092)),
            ssl: listener(9093),
            sasl_scram: listener(9094),
            internal: listener(9091),
            controller: listener(9090),
            metrics: Some(listener(9404)),
            reached_at: None,
            published: None,
        },
    }
}

/// Repeats a call as the engine does, until it is ready.
async fn ready<T>(what: &str, call: impl AsyncFn() -> Outcome<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let last = match call().await {
            Outcome::Ready(value) => return value,
            Outcome::Pending { reason, after } => {
                sleep(after.min(Duration::from_millis(50))).await;
                format!("pending: {reason}")
            }
            Outcome::Failed { reason, remedy: Remedy::Retry, .. } => format!("retry: {reason}"),
            Outcome::Failed { reason, .. } => panic!("{what} gave up: {reason}"),
        };
        assert!(Instant::now() < deadline, "{what} is not ready, last answer {last}");
    }
}

/// Repeats a call until it gives up, and returns what the instance's mark says to that.
async fn refused<T>(what: &str, call: impl AsyncFn() -> Outcome<T>) -> Option<Refusal> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match call().await {
            Outcome::Ready(_) => panic!("{what} succeeded and should not have"),
            Outcome::Failed { remedy: Remedy::GiveUp, refusal, .. } => return refusal,
            Outcome::Failed { reason, .. } | Outcome::Pending { reason, .. } => {
                assert!(Instant::now() < deadline, "{what} is not refused, last answer {reason}");
            }
        }
    }
}

async fn make_server(cloud: &dyn Cloud, id: i64) {
    ready("network", async || cloud.ensure_network(&BY, &network()).await).await;
    ready("disk", async || cloud.ensure_disk(&BY, &disk(id)).await).await;
    ready("server", async || cloud.ensure_server(&BY, &server(id)).await).await;
}

async fn clean(cloud: &dyn Cloud, id: i64) {
    ready("remove server", async || cloud.remove_server(&BY, ServerId(id)).await).await;
    ready("remove disk", async || cloud.remove_disk(&BY, disk_id(id)).await).await;
    ready("remove network", async || cloud.remove_network(network().vpc_id).await).await;
    let inventory = ready("inventory", async || cloud.inventory().await).await;
    assert_eq!(inventory, crate::Inventory::default(), "something is left");
}

async fn said_twice_is_the_same(subject: &dyn Subject) {
    let cloud = subject.cloud();
    for _ in 0..2 {
        make_server(cloud, 11).await;
        make_server(cloud, 12).await;
        let mut inventory = ready("inventory", async || cloud.inventory().await).await;
        inventory.disks.sort();
        inventory.servers.sort();
        assert_eq!(inventory.networks, [VpcId(7)]);
        assert_eq!(inventory.disks, [disk_id(11), disk_id(12)]);
        assert_eq!(inventory.servers, [ServerId(11), ServerId(12)]);
        assert!(subject.agent_is_alive(ServerId(11)).await);
        assert!(subject.agent_is_alive(ServerId(12)).await);
    }
    ready("remove server", async || cloud.remove_server(&BY, ServerId(11)).await).await;
    ready("remove disk", async || cloud.remove_disk(&BY, disk_id(11)).await).await;
    assert!(subject.agent_is_alive(ServerId(12)).await, "a neighbour was ended");
    clean(cloud, 12).await;
}

async fn removed_twice_is_the_same(subject: &dyn Subject) {
    make_server(subject.cloud(), 11).await;
    clean(subject.cloud(), 11).await;
    assert!(!subject.agent_is_alive(ServerId(11)).await);
    clean(subject.cloud(), 11).await;
}

async fn the_unknown_is_removed_already(subject: &dyn Subject) {
    clean(subject.cloud(), 99).await;
}

async fn a_missing_disk_is_lost_not_new(subject: &dyn Subject) {
    let cloud = subject.cloud();
    ready("disk", async || cloud.ensure_disk(&BY, &disk(11)).await).await;
    subject.lose_disk(disk_id(11)).await;
    // Its agent is the one to say what is wrong, or nobody could.
    ready("server", async || cloud.ensure_server(&BY, &server(11)).await).await;
    let inventory = ready("inventory", async || cloud.inventory().await).await;
    assert_eq!(inventory.disks, [], "a lost disk was made anew");
}

async fn a_disk_of_another_is_refused(subject: &dyn Subject) {
    let cloud = subject.cloud();
    ready("disk", async || cloud.ensure_disk(&BY, &disk(11)).await).await;
    let other = DiskSpec { server_id: ServerId(12), ..disk(11) };
    refused("another server's disk", async || cloud.ensure_disk(&BY, &other).await).await;
    ready("remove disk", async || cloud.remove_disk(&BY, disk_id(11)).await).await;
}

async fn a_disk_in_use_stays(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    subject.write_on_disk(disk_id(11)).await;
    let answer = cloud.remove_disk(&BY, disk_id(11)).await;
    assert!(!matches!(answer, Outcome::Ready(())), "a disk in use was removed");
    assert!(subject.has_data(disk_id(11)).await);
    clean(cloud, 11).await;
}

async fn a_disk_grows_in_use(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    subject.write_on_disk(disk_id(11)).await;
    let larger = DiskSpec { size_gb: 20, ..disk(11) };
    for _ in 0..2 {
        ready("a larger disk", async || cloud.ensure_disk(&BY, &larger).await).await;
    }
    // Asked for too late, or again after a crash.
    ready("the disk before", async || cloud.ensure_disk(&BY, &disk(11)).await).await;
    assert!(subject.has_data(disk_id(11)).await, "the data went with the change");
    let found = ready("server", async || cloud.ensure_server(&BY, &server(11)).await).await;
    assert_eq!(found.agent, Agent::Running, "its server was stopped for it");
    clean(cloud, 11).await;
}

async fn a_disk_outlives_its_server(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    subject.write_on_disk(disk_id(11)).await;
    ready("remove server", async || cloud.remove_server(&BY, ServerId(11)).await).await;
    assert!(subject.has_data(disk_id(11)).await, "the disk went with its server");
    let again = ServerSpec { incarnation: 2, ..server(11) };
    ready("server again", async || cloud.ensure_server(&BY, &again).await).await;
    assert!(subject.agent_is_alive(ServerId(11)).await);
    clean(cloud, 11).await;
}

/// A new identity for the agent: it and all that it runs go on.
async fn a_higher_incarnation_ends_nothing(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    subject.write_on_disk(disk_id(11)).await;
    let token = Some(Secret::new("for the second"));
    let second = ServerSpec { incarnation: 2, token, ..server(11) };
    let found = ready("server", async || cloud.ensure_server(&BY, &second).await).await;
    assert_eq!(found.agent, Agent::Running, "its agent was started anew");
    assert!(subject.agent_is_alive(ServerId(11)).await);
    assert_eq!(subject.token(ServerId(11)).await, Some(Secret::new("for the second")));
    assert!(subject.has_data(disk_id(11)).await);
    clean(cloud, 11).await;
}

async fn an_older_incarnation_is_refused(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    let second = ServerSpec { incarnation: 2, ..server(11) };
    ready("server", async || cloud.ensure_server(&BY, &second).await).await;
    refused("an older incarnation", async || cloud.ensure_server(&BY, &server(11)).await).await;
    assert!(subject.agent_is_alive(ServerId(11)).await);
    clean(cloud, 11).await;
}

async fn a_token_stays_until_there_is_another(subject: &dyn Subject) {
    let cloud = subject.cloud();
    let ensure = async |incarnation: i64, token: Option<&str>| {
        let spec = ServerSpec { incarnation, token: token.map(Secret::new), ..server(11) };
        ready("server", async || cloud.ensure_server(&BY, &spec).await).await;
        subject.token(ServerId(11)).await.map(|token| token.expose().to_owned())
    };
    make_server(cloud, 11).await;
    assert_eq!(ensure(1, None).await.as_deref(), Some("once"), "the token was taken away");
    subject.kill_agent(ServerId(11)).await;
    assert_eq!(ensure(1, None).await.as_deref(), Some("once"), "a new agent got no token");
    assert_eq!(ensure(1, Some("twice")).await.as_deref(), Some("twice"));
    assert_eq!(ensure(1, None).await.as_deref(), Some("twice"));
    // It was given to one incarnation and is of no use to the next.
    assert_eq!(ensure(2, None).await, None);
    clean(cloud, 11).await;
}

async fn a_server_keeps_its_addresses(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    let ensure = async |incarnation: i64| {
        let spec = ServerSpec { incarnation, ..server(11) };
        ready("server", async || cloud.ensure_server(&BY, &spec).await).await.addresses
    };
    let first = ensure(1).await;
    assert!(first.private_ip.parse::<std::net::IpAddr>().is_ok(), "{first:?}");
    subject.kill_agent(ServerId(11)).await;
    assert_eq!(ensure(1).await, first, "another agent is at another address");
    assert_eq!(ensure(2).await, first, "another identity is at another address");
    clean(cloud, 11).await;
}

async fn a_dead_agent_is_told_of_and_started_anew(subject: &dyn Subject) {
    let cloud = subject.cloud();
    let mut events = cloud.events();
    make_server(cloud, 11).await;
    for _ in 0..2 {
        subject.kill_agent(ServerId(11)).await;
        let event = timeout(PATIENCE, events.recv()).await.expect("no event of the agent's end");
        let expected = Disruption { instance_id: InstanceId(3), server_id: ServerId(11) };
        assert_eq!(event, Ok(expected));
        ready("server again", async || cloud.ensure_server(&BY, &server(11)).await).await;
        assert!(subject.agent_is_alive(ServerId(11)).await);
        let running = ready("server", async || cloud.ensure_server(&BY, &server(11)).await).await;
        assert_eq!(running.agent, Agent::Running, "it was started once");
    }
    clean(cloud, 11).await;
}

async fn a_removal_is_no_disruption(subject: &dyn Subject) {
    let cloud = subject.cloud();
    let mut events = cloud.events();
    make_server(cloud, 11).await;
    make_server(cloud, 12).await;
    ready("remove server", async || cloud.remove_server(&BY, ServerId(11)).await).await;
    // The next event there is must be the other server's.
    subject.kill_agent(ServerId(12)).await;
    let event = timeout(PATIENCE, events.recv()).await.expect("no event of the agent's end");
    assert_eq!(event.map(|event| event.server_id), Ok(ServerId(12)));
    ready("remove disk", async || cloud.remove_disk(&BY, disk_id(11)).await).await;
    clean(cloud, 12).await;
}

/// Everything that an owner can have in mind is refused.
async fn all_is_refused(cloud: &dyn Cloud, by: &Owner) {
    let network = network();
    refused("a late network", async || cloud.ensure_network(by, &network).await).await;
    refused("a late disk", async || cloud.ensure_disk(by, &disk(11)).await).await;
    refused("a late server", async || cloud.ensure_server(by, &server(11)).await).await;
    refused("a late removal", async || cloud.remove_server(by, ServerId(11)).await).await;
    refused("a late removal", async || cloud.remove_disk(by, disk_id(11)).await).await;
    refused("a late end", async || cloud.retire(by).await).await;
    let refusal = refused("a late owner", async || cloud.take_over(by).await).await;
    let is_outdated = matches!(
        refusal,
        Some(Refusal::Outdated { instance, given, .. })
            if (instance, given) == (by.instance_id, by.epoch)
    );
    assert!(is_outdated, "{refusal:?}");
}

async fn earlier_owners_do_nothing_any_more(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    let second = owner(1, 2);
    ready("server", async || cloud.ensure_server(&second, &server(11)).await).await;
    all_is_refused(cloud, &BY).await;
    assert!(subject.agent_is_alive(ServerId(11)).await, "a late removal ended it");
    ready("server", async || cloud.remove_server(&second, ServerId(11)).await).await;
    all_is_refused(cloud, &BY).await;
    assert!(!subject.agent_is_alive(ServerId(11)).await, "it was started late");
    // Another instance has owners of its own.
    let other = Owner { instance_id: InstanceId(4), ..BY };
    let disk = DiskSpec { instance_id: InstanceId(4), ..disk(12) };
    ready("another's disk", async || cloud.ensure_disk(&other, &disk).await).await;
}

async fn an_owner_is_taken_over_before_anything_else(subject: &dyn Subject) {
    let cloud = subject.cloud();
    ready("take-over", async || cloud.take_over(&owner(1, 2)).await).await;
    all_is_refused(cloud, &BY).await;
    let inventory = ready("inventory", async || cloud.inventory().await).await;
    assert_eq!(inventory, crate::Inventory::default(), "something was made late");
}

async fn a_restored_store_is_followed(subject: &dyn Subject) {
    let cloud = subject.cloud();
    let (before, restored) = (owner(1, 900), owner(2, 1));
    ready("network", async || cloud.ensure_network(&before, &network()).await).await;
    ready("disk", async || cloud.ensure_disk(&before, &disk(11)).await).await;
    ready("server", async || cloud.ensure_server(&before, &server(11)).await).await;
    let found = ready("server", async || cloud.ensure_server(&restored, &server(11)).await).await;
    assert_eq!(found.agent, Agent::Running, "a restore starts nothing anew");
    all_is_refused(cloud, &owner(1, 901)).await;
    assert!(subject.agent_is_alive(ServerId(11)).await);
}

async fn what_is_retired_stays_so(subject: &dyn Subject) {
    let cloud = subject.cloud();
    subject.add_another().await;
    make_server(cloud, 11).await;
    // Somebody else has it, and takes it down to the end.
    let last = owner(1, 2);
    ready("remove server", async || cloud.remove_server(&last, ServerId(11)).await).await;
    ready("remove disk", async || cloud.remove_disk(&last, disk_id(11)).await).await;
    ready("remove network", async || cloud.remove_network(network().vpc_id).await).await;
    for _ in 0..2 {
        ready("the end", async || cloud.retire(&last).await).await;
    }
    all_is_refused(cloud, &BY).await;
    let next = owner(1, 3);
    refused("a disk", async || cloud.ensure_disk(&next, &disk(11)).await).await;
    ready("the end", async || cloud.retire(&next).await).await;
    let inventory = ready("inventory", async || cloud.inventory().await).await;
    assert_eq!(inventory, crate::Inventory::default(), "something came back");
    // An operator who brings it back does so with another store.
    let restored = owner(2, 1);
    ready("disk", async || cloud.ensure_disk(&restored, &disk(11)).await).await;
    ready("remove disk", async || cloud.remove_disk(&restored, disk_id(11)).await).await;
}

async fn a_firewall_is_replaced_and_ends_nothing(subject: &dyn Subject) {
    let cloud = subject.cloud();
    let vpc = "10.56.72.0/24".parse().expect("it is a range of private addresses");
    let open = |ip: &str| {
        let ip = ip.parse().expect("it is a range of addresses");
        let rule = FirewallRule { ip, ..FirewallRule::default_rule() };
        Firewall::new(vec![rule]).openings(vpc, &[])
    };
    let nobody = cloud.apply_firewall(ServerId(11), &open("0.0.0.0/0")).await;
    assert!(
        matches!(nobody, Outcome::Ready(Enforcement::NotEnforced) | Outcome::Failed { .. }),
        "there is nothing to enforce it on: {nobody:?}"
    );
    make_server(cloud, 11).await;
    let mut seen = Vec::new();
    for ip in ["0.0.0.0/0", "0.0.0.0/0", "203.0.113.0/24"] {
        let openings = open(ip);
        let apply = async || cloud.apply_firewall(ServerId(11), &openings).await;
        seen.push(ready("firewall", apply).await);
    }
    assert!(seen.iter().all(|it| *it == seen[0]), "what it enforces changes: {seen:?}");
    assert!(subject.agent_is_alive(ServerId(11)).await, "the agent was ended for it");
    let found = ready("server", async || cloud.ensure_server(&BY, &server(11)).await).await;
    assert_eq!(found.agent, Agent::Running, "the agent was started anew for it");
    clean(cloud, 11).await;
}
