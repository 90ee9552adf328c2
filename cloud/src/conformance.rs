//! What every cloud promises, as one suite of checks.
//!
//! A cloud's own test supplies a [`Subject`]: the cloud and the hands that
//! reach behind it (kill an agent, lose a disk). Each check gets a fresh one
//! and panics with the last answer when a promise is broken.

use crate::{Agent, Cloud, DiskSpec, Disruption, NetworkSpec, Outcome, Remedy, ServerSpec};
use async_trait::async_trait;
use model::{DiskId, InstanceId, Secret, ServerId, VpcId};
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
    an_older_incarnation_is_refused(&make().await).await;
    a_token_stays_until_there_is_another(&make().await).await;
    a_dead_agent_is_told_of_and_started_anew(&make().await).await;
    a_removal_is_no_disruption(&make().await).await;
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
        must_exist: false,
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
        token: Some(Secret::new("once")),
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
            Outcome::Failed { reason, remedy: Remedy::Retry } => format!("retry: {reason}"),
            Outcome::Failed { reason, .. } => panic!("{what} gave up: {reason}"),
        };
        assert!(Instant::now() < deadline, "{what} is not ready, last answer {last}");
    }
}

/// Repeats a call until it gives up, and returns why.
async fn refused<T>(what: &str, call: impl AsyncFn() -> Outcome<T>) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match call().await {
            Outcome::Ready(_) => panic!("{what} succeeded and should not have"),
            Outcome::Failed { reason, remedy: Remedy::GiveUp } => return reason,
            Outcome::Failed { reason, .. } | Outcome::Pending { reason, .. } => {
                assert!(Instant::now() < deadline, "{what} is not refused, last answer {reason}");
            }
        }
    }
}

async fn make_server(cloud: &dyn Cloud, id: i64) {
    ready("network", async || cloud.ensure_network(&network()).await).await;
    ready("disk", async || cloud.ensure_disk(&disk(id)).await).await;
    ready("server", async || cloud.ensure_server(&server(id)).await).await;
}

async fn clean(cloud: &dyn Cloud, id: i64) {
    ready("remove server", async || cloud.remove_server(ServerId(id)).await).await;
    ready("remove disk", async || cloud.remove_disk(disk_id(id)).await).await;
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
    ready("remove server", async || cloud.remove_server(ServerId(11)).await).await;
    ready("remove disk", async || cloud.remove_disk(disk_id(11)).await).await;
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
    let known = DiskSpec { must_exist: true, ..disk(11) };
    ready("disk", async || cloud.ensure_disk(&disk(11)).await).await;
    ready("known disk", async || cloud.ensure_disk(&known).await).await;
    subject.lose_disk(known.id).await;
    for _ in 0..2 {
        let reason = refused("a lost disk", async || cloud.ensure_disk(&known).await).await;
        assert!(reason.contains("lost") && reason.contains(&known.id.to_string()), "{reason}");
    }
    let inventory = ready("inventory", async || cloud.inventory().await).await;
    assert_eq!(inventory.disks, [], "a lost disk was made anew");
}

async fn a_disk_of_another_is_refused(subject: &dyn Subject) {
    let cloud = subject.cloud();
    ready("disk", async || cloud.ensure_disk(&disk(11)).await).await;
    let other = DiskSpec { server_id: ServerId(12), ..disk(11) };
    refused("another server's disk", async || cloud.ensure_disk(&other).await).await;
    ready("remove disk", async || cloud.remove_disk(disk_id(11)).await).await;
}

async fn a_disk_in_use_stays(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    subject.write_on_disk(disk_id(11)).await;
    let answer = cloud.remove_disk(disk_id(11)).await;
    assert!(!matches!(answer, Outcome::Ready(())), "a disk in use was removed");
    assert!(subject.has_data(disk_id(11)).await);
    clean(cloud, 11).await;
}

async fn a_disk_outlives_its_server(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    subject.write_on_disk(disk_id(11)).await;
    ready("remove server", async || cloud.remove_server(ServerId(11)).await).await;
    assert!(subject.has_data(disk_id(11)).await, "the disk went with its server");
    let again = ServerSpec { incarnation: 2, ..server(11) };
    ready("server again", async || cloud.ensure_server(&again).await).await;
    // Replaced in one step as well, for a caller that does not remove first.
    let third = ServerSpec { incarnation: 3, ..server(11) };
    ready("server replaced", async || cloud.ensure_server(&third).await).await;
    assert!(subject.has_data(disk_id(11)).await, "the disk went with its server");
    assert!(subject.agent_is_alive(ServerId(11)).await);
    clean(cloud, 11).await;
}

async fn an_older_incarnation_is_refused(subject: &dyn Subject) {
    let cloud = subject.cloud();
    make_server(cloud, 11).await;
    let second = ServerSpec { incarnation: 2, ..server(11) };
    ready("server replaced", async || cloud.ensure_server(&second).await).await;
    refused("an older incarnation", async || cloud.ensure_server(&server(11)).await).await;
    assert!(subject.agent_is_alive(ServerId(11)).await);
    clean(cloud, 11).await;
}

async fn a_token_stays_until_there_is_another(subject: &dyn Subject) {
    let cloud = subject.cloud();
    let ensure = async |incarnation: i64, token: Option<&str>| {
        let spec = ServerSpec { incarnation, token: token.map(Secret::new), ..server(11) };
        ready("server", async || cloud.ensure_server(&spec).await).await;
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

async fn a_dead_agent_is_told_of_and_started_anew(subject: &dyn Subject) {
    let cloud = subject.cloud();
    let mut events = cloud.events();
    make_server(cloud, 11).await;
    for _ in 0..2 {
        subject.kill_agent(ServerId(11)).await;
        let event = timeout(PATIENCE, events.recv()).await.expect("no event of the agent's end");
        let expected = Disruption { instance_id: InstanceId(3), server_id: ServerId(11) };
        assert_eq!(event, Ok(expected));
        ready("server again", async || cloud.ensure_server(&server(11)).await).await;
        assert!(subject.agent_is_alive(ServerId(11)).await);
        let running = ready("server", async || cloud.ensure_server(&server(11)).await).await;
        assert_eq!(running, Agent::Running, "it was started once");
    }
    clean(cloud, 11).await;
}

async fn a_removal_is_no_disruption(subject: &dyn Subject) {
    let cloud = subject.cloud();
    let mut events = cloud.events();
    make_server(cloud, 11).await;
    make_server(cloud, 12).await;
    ready("remove server", async || cloud.remove_server(ServerId(11)).await).await;
    // The next event there is must be the other server's.
    subject.kill_agent(ServerId(12)).await;
    let event = timeout(PATIENCE, events.recv()).await.expect("no event of the agent's end");
    assert_eq!(event.map(|event| event.server_id), Ok(ServerId(12)));
    ready("remove disk", async || cloud.remove_disk(disk_id(11)).await).await;
    clean(cloud, 12).await;
}
