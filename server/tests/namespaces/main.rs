//! Servers in networks of their own: real Kafka in real namespaces.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod hostile;
mod kernel;
mod machine;

use hostile::Ground;
use kernel::{Network, differences, marks, networks, state};
use machine::{Machine, sh};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};
use test_support::installation::Installation;
use test_support::kcat::Kcat;
use tokio::sync::Mutex;

const SUBNET: &str = "10.91.0.0/24";
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 91, 0, 1);
/// The first address that a server gets.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 91, 0, 4);
const CUSTOMER: Ipv4Addr = Ipv4Addr::new(10, 91, 0, 200);
/// After a change of the firewall.
const AT_ONCE: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_mins(15);
/// One real cluster at a time is enough for the machine.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());
/// What somebody else took away is back by then.
const MENDED: Duration = Duration::from_mins(1);
const SCRAM: &str = "SCRAM-SHA-256";

/// An instance of an account of its own, and its customer's machine in its VPC.
struct Tenant {
    key: String,
    id: i64,
    /// Where the host takes connections for its server.
    public: SocketAddrV4,
    network: Network,
    machine: Machine,
    kcat: Kcat,
}

/// The key of a new account, and the instance that it has ordered.
async fn order(castellan: &mut Installation, name: &str) -> (String, i64) {
    let key = castellan.create_account(&format!("{name}@x.test")).await;
    castellan.key.clone_from(&key);
    let body = json!({
        "name": name, "plan": "mouse-1", "region": "local::this-machine", "vpc_subnet": SUBNET,
    });
    let (status, created) = castellan.post("/api/instances", &body).await;
    assert_eq!(status, 200, "{created}");
    let id = created["id"].as_i64().unwrap();
    // Known before anything is made.
    let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
    assert_eq!(instance["hostname_internal"], json!(ADDRESS), "{instance}");
    (key, id)
}

impl Tenant {
    async fn new(castellan: &mut Installation, (key, id): (String, i64)) -> Self {
        castellan.key.clone_from(&key);
        let instance = castellan.until_running(id).await;
        let public: SocketAddrV4 = instance["brokers"].as_str().unwrap().parse().unwrap();
        let vpc = instance["vpc"]["id"].as_i64().unwrap();
        let network = networks(&castellan.data()).into_iter().find(|it| it.id == vpc).unwrap();
        let machine = Machine::in_network(&network.name, CUSTOMER, GATEWAY);
        let kcat = Kcat::new(castellan, &instance).await.within(machine.path());
        Self { key, id, public, network, machine, kcat }
    }

    /// With its key.
    async fn until_running(&self, castellan: &mut Installation) -> Value {
        castellan.key.clone_from(&self.key);
        castellan.until_running(self.id).await
    }

    fn path(&self, path: &str) -> String {
        format!("/api/instances/{}/{path}", self.id)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_networks_with_the_same_subnet_serve_their_own() {
    if let Some(missing) = cloud_local::missing_for_networks() {
        return host::testing::skip("networks", &missing);
    }
    let _alone = ONE_AT_A_TIME.lock().await;
    let before = state();
    let outside = Machine::outside();
    let mut castellan = Installation::start_in_namespaces(outside.gateway, 20000..=20019).await;
    let orders = [order(&mut castellan, "one").await, order(&mut castellan, "other").await];
    let mut tenants = Vec::new();
    for order in orders {
        tenants.push(Tenant::new(&mut castellan, order).await);
    }
    let marks = marks(&castellan.data());
    for tenant in &tenants {
        tells_the_truth(&mut castellan, tenant).await;
    }
    serve_their_own(&tenants).await;
    do_not_meet(&tenants);
    let ground = Ground {
        castellan: &castellan,
        networks: [&tenants[0].network, &tenants[1].network],
        published: [tenants[0].public.port(), tenants[1].public.port()],
        outside: &outside,
    };
    ground.is_searched(&castellan.processes()[0], &ADDRESS.to_string()).await;
    goes_by_its_firewall(&mut castellan, &tenants[0], &outside).await;
    is_put_right(&castellan, &tenants[0]).await;
    restarts(&mut castellan, &tenants).await;
    ends(castellan, tenants).await;
    drop(outside);
    assert_eq!(differences(&before, &marks), Vec::<String>::new());
}

/// As on loopback, with clients inside and outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_grows_and_rolls_in_its_network() {
    if let Some(missing) = cloud_local::missing_for_networks() {
        return host::testing::skip("networks", &missing);
    }
    let _alone = ONE_AT_A_TIME.lock().await;
    let before = state();
    let outside = Machine::outside();
    let mut castellan = Installation::start_in_namespaces(outside.gateway, 20100..=20139).await;
    let order = order(&mut castellan, "growing").await;
    let tenant = Tenant::new(&mut castellan, order).await;
    let marks = marks(&castellan.data());
    tenant.kcat.write_plainly("for 0").await;
    tenant.kcat.write(SCRAM, "for 0 with a password").await;
    let path = format!("/api/instances/{}", tenant.id);
    let (status, said) = castellan.put(&path, &json!({"nodes": 3})).await;
    assert_eq!(status, 200, "{said}");
    let three = castellan
        .until_within(LONGEST, "there are three servers", async || {
            let (_, status) = castellan.get(&tenant.path("cluster/status")).await;
            let (_, instance) = castellan.get(&path).await;
            let is_done = status["configured"] == true && instance["status"] == "running";
            if is_done { Ok(instance) } else { Err(instance["status"].to_string()) }
        })
        .await;
    assert_eq!(three["brokers"].as_str().unwrap().split(',').count(), 3, "{three}");
    let old = castellan.processes();
    let (status, said) = castellan.post(&tenant.path("actions/restart"), &json!({})).await;
    assert_eq!(status, 200, "{said}");
    for (server, processes) in old.iter().enumerate() {
        castellan.until_broker_is_not(server, &processes.broker).await;
    }
    castellan.until_running(tenant.id).await;
    for machine in [&tenant.machine, &outside] {
        let kcat = Kcat::new(&castellan, &three).await.within(machine.path());
        assert_eq!(kcat.read("tour", SCRAM).await, messages(0));
    }
    reads(&tenant.kcat, 0).await;
    castellan.purge().await;
    drop((tenant, outside));
    assert_eq!(differences(&before, &marks), Vec::<String>::new());
}

async fn tells_the_truth(castellan: &mut Installation, tenant: &Tenant) {
    let instance = tenant.until_running(castellan).await;
    let (_, nodes) = castellan.get(&tenant.path("nodes")).await;
    let (_, details) = castellan.get(&tenant.path("details")).await;
    let (own, public) = (json!(ADDRESS), json!(tenant.public.ip()));
    assert_eq!((&nodes[0]["private_ip"], &nodes[0]["hostname_internal"]), (&own, &own), "{nodes}");
    assert_eq!(nodes[0]["hostname"], public, "{nodes}");
    assert_eq!(instance["hostname_internal"], own, "{instance}");
    assert_eq!(instance["hostname_external"], public, "{instance}");
    assert_eq!(instance["vpc"]["subnet"], SUBNET, "{instance}");
    let ports = &details["connections"];
    assert_eq!(ports["plaintext"]["port"], 9092, "{details}");
    assert_eq!(ports["sasl_scram"]["port"], tenant.public.port(), "{details}");
    assert_eq!(details["servers"][0]["private_ip"], own, "{details}");
    assert_eq!(details["servers"][0]["hostname"], public, "{details}");
    let (status, rules) = castellan.get(&tenant.path("security/firewall")).await;
    assert_eq!((status, &rules[0]["enforced"]), (200, &Value::Null), "{rules}");
}

/// Each customer finds in its topic what was written there, without a login and with one.
async fn serve_their_own(tenants: &[Tenant]) {
    for (at, tenant) in tenants.iter().enumerate() {
        tenant.kcat.write_plainly(&format!("for {at}")).await;
        tenant.kcat.write(SCRAM, &format!("for {at} with a password")).await;
    }
    for (at, tenant) in tenants.iter().enumerate() {
        reads(&tenant.kcat, at).await;
        assert_eq!(tenant.kcat.read("tour", "SCRAM-SHA-512").await, messages(at));
    }
}

fn messages(at: usize) -> [String; 2] {
    [format!("for {at}"), format!("for {at} with a password")]
}

async fn reads(kcat: &Kcat, at: usize) {
    let found = kcat.read_plainly("tour").await;
    assert_eq!(found, messages(at));
}

/// The same address is another server in the other network.
fn do_not_meet(tenants: &[Tenant]) {
    let [one, other] = tenants else { panic!("there are two") };
    for (tenant, others) in [(one, other), (other, one)] {
        let own = |port| SocketAddrV4::new(ADDRESS, port);
        for port in [9092, 9093, 9094] {
            assert!(tenant.machine.reaches(own(port)), "{port}");
        }
        for port in [9090, 9091, 9404] {
            assert!(!tenant.machine.reaches(own(port)), "{port}");
        }
        assert!(tenant.machine.reaches(tenant.public));
        assert!(!tenant.machine.reaches(others.public));
    }
}

/// What it opens and closes for a machine outside, which never gets to 9092.
async fn goes_by_its_firewall(castellan: &mut Installation, tenant: &Tenant, outside: &Machine) {
    let instance = tenant.until_running(castellan).await;
    let from_outside = Kcat::new(castellan, &instance).await.within(outside.path());
    let found = from_outside.read("tour", SCRAM).await;
    assert_eq!(found, messages(0), "anybody with a password may come at first");
    assert!(!outside.reaches(SocketAddrV4::new(ADDRESS, 9092)));
    let (_, details) = castellan.get(&tenant.path("details")).await;
    let ssl = details["connections"]["ssl"]["port"].as_u64().unwrap();
    let ssl = SocketAddrV4::new(*tenant.public.ip(), u16::try_from(ssl).unwrap());
    assert!(outside.reaches(ssl));

    let mut held = outside.connect(tenant.public).unwrap();
    assert_eq!(held.ended(), None);
    set_rules(castellan, tenant, &json!([{"ip": "203.0.113.0/24", "services": ["SASL_SSL"]}]))
        .await;
    let since = Instant::now();
    let ended = loop {
        if let Some(ended) = held.ended() {
            break ended;
        }
        assert!(since.elapsed() < AT_ONCE, "a connection that is forbidden goes on");
    };
    assert_eq!(ended, ErrorKind::ConnectionReset, "not ended by the broker");
    until_configured(castellan, tenant, since).await;
    assert!(!outside.reaches(tenant.public) && !outside.reaches(ssl));
    reads(&tenant.kcat, 0).await;

    let own = format!("{}/32", outside.address);
    set_rules(castellan, tenant, &json!([{"ip": own, "services": ["SASL_SSL"]}])).await;
    until_configured(castellan, tenant, Instant::now()).await;
    assert!(outside.reaches(tenant.public) && !outside.reaches(ssl));
    let (status, said) = castellan
        .put(&tenant.path("security/firewall"), &json!([{"ip": own, "services": ["PLAINTEXT"]}]))
        .await;
    assert_eq!(status, 400, "{said}");
    set_rules(castellan, tenant, &json!([])).await;
    until_configured(castellan, tenant, Instant::now()).await;
    assert!(outside.reaches(tenant.public) && outside.reaches(ssl));
}

async fn set_rules(castellan: &Installation, tenant: &Tenant, rules: &Value) {
    let (status, said) = castellan.put(&tenant.path("security/firewall"), rules).await;
    assert_eq!(status, 204, "{said}");
}

async fn until_configured(castellan: &Installation, tenant: &Tenant, since: Instant) {
    castellan
        .until("the rules are in effect", async || {
            match castellan.get(&tenant.path("security/firewall/configured")).await {
                (200, _) => Ok(()),
                (status, said) => Err((status, said)),
            }
        })
        .await;
    let took = since.elapsed();
    assert!(took < AT_ONCE, "the rules took {took:?}");
}

/// Somebody takes away a server's rules, then its link, then its namespace's name.
async fn is_put_right(castellan: &Installation, tenant: &Tenant) {
    let hidden = SocketAddrV4::new(ADDRESS, 9091);
    let server = tenant.network.servers[0].file_name().unwrap().to_str().unwrap().to_owned();
    sh(&format!("ip netns exec {server} nft flush ruleset"));
    assert!(tenant.machine.reaches(hidden), "without rules everything is open");
    until_put_right(castellan, || !tenant.machine.reaches(hidden)).await;
    reads(&tenant.kcat, 0).await;
    let network = &tenant.network.name;
    sh(&format!("ip -n {network} link del s{}", ADDRESS.octets()[3]));
    assert!(!tenant.machine.reaches(SocketAddrV4::new(ADDRESS, 9092)));
    let open = SocketAddrV4::new(ADDRESS, 9092);
    until_put_right(castellan, || tenant.machine.reaches(open)).await;
    reads(&tenant.kcat, 0).await;
    sh(&format!("ip netns del {server}"));
    until_put_right(castellan, || tenant.network.servers[0].exists()).await;
    reads(&tenant.kcat, 0).await;
}

async fn until_put_right(castellan: &Installation, is_right: impl Fn() -> bool) {
    let is_right = async || if is_right() { Ok(()) } else { Err("it is not yet") };
    castellan.until_within(MENDED, "the network is put right", is_right).await;
}

/// A broker that is restarted, and a control plane that comes back, change nothing.
async fn restarts(castellan: &mut Installation, tenants: &[Tenant]) {
    let old = castellan.processes();
    castellan.key.clone_from(&tenants[0].key);
    let (status, said) = castellan.post(&tenants[0].path("actions/restart"), &json!({})).await;
    assert_eq!(status, 200, "{said}");
    castellan.until_broker_is_not(0, &old[0].broker).await;
    tenants[0].until_running(castellan).await;
    let agents = castellan.agents();
    assert_eq!(agents, [old[0].agent.clone(), old[1].agent.clone()]);
    assert_eq!(castellan.processes()[1], old[1]);
    reads(&tenants[0].kcat, 0).await;

    castellan.kill_control_plane().await;
    castellan.serve().await;
    for (at, tenant) in tenants.iter().enumerate() {
        tenant.until_running(castellan).await;
        reads(&tenant.kcat, at).await;
    }
    assert_eq!(castellan.agents(), agents);
}

/// Each leaves nothing, and the first one's end is nothing to the other.
async fn ends(mut castellan: Installation, tenants: Vec<Tenant>) {
    let [one, other] = <[Tenant; 2]>::try_from(tenants).ok().unwrap();
    castellan.key.clone_from(&one.key);
    assert_eq!(castellan.delete(&format!("/api/instances/{}", one.id)).await, 204);
    castellan
        .until("its network is gone", async || {
            let left: Vec<i64> = networks(&castellan.data()).iter().map(|it| it.id).collect();
            if left == [other.network.id] { Ok(()) } else { Err(left) }
        })
        .await;
    drop(one);
    other.until_running(&mut castellan).await;
    reads(&other.kcat, 1).await;
    castellan.purge().await;
}
