//! Servers in networks of their own: agents in namespaces, found again and removed.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use cloud::conformance::suite;
use cloud::{Agent, Cloud as _, NetworkSpec, ObservedServer, Outcome, ServerSpec};
use cloud_local::{LocalCloud, NetworkOptions, Options, Whose, network_parts};
use host::ProcessId;
use model::VpcId;
use std::fs;
use std::path::{Path, PathBuf};
use support::{BY, Local, disk, ensure, options, server, wait_for};

const VPC: VpcId = VpcId(7);

fn apart(place: &Path) -> Options {
    let network = NetworkOptions { agents_port: 7443, uids: vec![0], publishes: false };
    Options { network: Some(network), ..options(place, "") }
}

async fn without_networks() -> Local {
    let place = host::testing::tempdir();
    let cloud = LocalCloud::open(apart(place.path())).await.unwrap();
    Local { cloud, place }
}

/// With a network; none if the test is left out.
async fn local() -> Option<Local> {
    if let Some(missing) = cloud_local::missing_for_networks() {
        host::testing::skip("networks", &missing);
        return None;
    }
    let local = without_networks().await;
    let network = NetworkSpec { vpc_id: VPC, subnet: "10.92.0.0/24".into() };
    assert_eq!(local.cloud.ensure_network(&BY, &network).await, Outcome::Ready(()));
    Some(local)
}

/// What there is of a directory's networks.
fn parts(local: &Local) -> Vec<String> {
    let is_ours = |whose: &Whose| matches!(whose, Whose::Network(_) | Whose::Host);
    let parts = network_parts(&local.data()).unwrap().into_iter();
    parts.filter(|part| is_ours(&part.whose)).map(|part| part.name).collect()
}

async fn made(cloud: &LocalCloud, spec: &ServerSpec) -> ObservedServer {
    ensure(cloud, spec).await;
    match cloud.ensure_server(&BY, spec).await {
        Outcome::Ready(observed) => observed,
        other => panic!("{other:?}"),
    }
}

fn namespace(process: &ProcessId) -> PathBuf {
    fs::read_link(format!("/proc/{}/ns/net", process.pid)).unwrap()
}

#[tokio::test]
async fn an_agent_lives_in_its_network_and_is_told_where_we_are() {
    let Some(local) = local().await else { return };
    assert_eq!(local.cloud.ensure_disk(&BY, &disk(11)).await, Outcome::Ready(()));
    let observed = made(&local.cloud, &server(11)).await;
    assert_eq!(observed.addresses.private_ip, "10.92.0.4");
    let listeners = observed.addresses.listeners;
    assert_eq!(
        (listeners.internal.bind_host.as_str(), listeners.internal.port),
        ("10.92.0.4", 9091)
    );
    assert!(listeners.reached_at.unwrap().starts_with("100."));
    let called_at = local.cloud.called_at().unwrap();
    assert_eq!(local.start(11).control_plane, format!("https://{called_at}"));
    local.wait_for_start(11, 1).await;
    let agent = local.agent(11).unwrap();
    let inside = namespace(&agent);
    assert_ne!(inside, namespace(&ProcessId::own()));
    // Its broker would be its child.
    let next = ServerSpec { incarnation: 2, ..server(11) };
    let again = made(&local.cloud, &next).await;
    assert_eq!((again.agent, again.addresses.private_ip.as_str()), (Agent::Running, "10.92.0.4"));

    // Another control plane finds all of it.
    let before = parts(&local);
    let other = LocalCloud::open(apart(local.place.path())).await.unwrap();
    assert_eq!(other.resume().await.unwrap(), []);
    assert_eq!(parts(&local), before);
    assert_eq!(local.agent(11).unwrap(), agent);
    drop(other);

    assert_eq!(local.cloud.remove_server(&BY, support::server(11).id).await, Outcome::Ready(()));
    let outcome = local.cloud.remove_network(VPC).await;
    assert_eq!(outcome, Outcome::Ready(()));
    assert_eq!(cloud_local::remove_namespaces(&local.data()).unwrap().len(), 0);
    assert_eq!(parts(&local), Vec::<String>::new());
}

#[tokio::test]
async fn it_keeps_every_clouds_promises() {
    match cloud_local::missing_for_networks() {
        Some(missing) => host::testing::skip("networks", &missing),
        None => suite(without_networks).await,
    }
}

/// Others than its network reach a server where its place was proposed.
#[tokio::test]
async fn a_server_is_published_where_its_place_was() {
    if let Some(missing) = cloud_local::missing_for_networks() {
        return host::testing::skip("networks", &missing);
    }
    let place = host::testing::tempdir();
    let options = apart(place.path());
    let network = options.network.map(|it| NetworkOptions { publishes: true, ..it });
    let cloud = LocalCloud::open(Options { network, ..options }).await.unwrap();
    let local = Local { cloud, place };
    let network = NetworkSpec { vpc_id: VPC, subnet: "10.92.0.0/24".into() };
    assert_eq!(local.cloud.ensure_network(&BY, &network).await, Outcome::Ready(()));
    assert_eq!(local.cloud.ensure_disk(&BY, &disk(11)).await, Outcome::Ready(()));
    let spec = server(11);
    let observed = made(&local.cloud, &spec).await.addresses;
    let told = [observed.listeners.public_ssl(), observed.listeners.public_sasl_scram()];
    let proposed = spec.addresses.listeners;
    assert_eq!(told, [proposed.ssl, proposed.sasl_scram]);
    assert_eq!(observed.listeners.sasl_scram.bind_host, observed.private_ip);
    // What is on record now brings the same again, also for one who publishes nothing new.
    let other = LocalCloud::open(apart(local.place.path())).await.unwrap();
    let next = ServerSpec { incarnation: 2, addresses: observed.clone(), ..server(11) };
    assert_eq!(made(&other, &next).await.addresses, observed);
}

#[tokio::test]
async fn what_is_left_over_is_told_and_cleaned() {
    let Some(local) = local().await else { return };
    assert_eq!(local.cloud.ensure_disk(&BY, &disk(11)).await, Outcome::Ready(()));
    ensure(&local.cloud, &server(11)).await;
    let agent = local.agent(11).unwrap();
    // As after a restore of an older directory: the kernel has what nobody has on record.
    fs::remove_file(local.data().join("netns").join(VPC.to_string())).unwrap();
    let left = |whose: Whose| {
        let parts = network_parts(&local.data()).unwrap().into_iter();
        parts.filter(|part| part.whose == whose).count()
    };
    assert!(left(Whose::Nobody) >= 3);
    // Not while something runs there.
    let (_, errors) = cloud_local::clean_networks(&local.data()).unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    agent.kill_for_good();
    wait_for(|| cloud_local::clean_networks(&local.data()).unwrap().1.len(), |left| *left == 0)
        .await;
    assert_eq!(left(Whose::Nobody), 0);
}

/// Those that were made before go on as they are, with the servers that join them.
#[tokio::test]
async fn a_network_without_a_namespace_never_gets_one() {
    if let Some(missing) = cloud_local::missing_for_networks() {
        return host::testing::skip("networks", &missing);
    }
    let place = host::testing::tempdir();
    let cloud = LocalCloud::open(options(place.path(), "")).await.unwrap();
    let local = Local { cloud, place };
    let network = NetworkSpec { vpc_id: VPC, subnet: "10.92.0.0/24".into() };
    assert_eq!(local.cloud.ensure_network(&BY, &network).await, Outcome::Ready(()));
    let after = LocalCloud::open(apart(local.place.path())).await.unwrap();
    assert_eq!(after.ensure_network(&BY, &network).await, Outcome::Ready(()));
    assert_eq!(after.ensure_disk(&BY, &disk(11)).await, Outcome::Ready(()));
    assert_eq!(made(&after, &server(11)).await.addresses, server(11).addresses);
    let agent = local.agent(11).unwrap();
    assert_eq!(namespace(&agent), namespace(&ProcessId::own()));
    cloud_local::remove_namespaces(&local.data()).unwrap();
}
