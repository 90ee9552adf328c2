//! Servers in networks of their own: real Kafka in real namespaces.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use cloud_local::{NetworkPart, Whose, network_parts};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use test_support::installation::Installation;
use test_support::kcat::Kcat;

const SUBNET: &str = "10.91.0.0/24";
/// The first address that a server gets.
const ADDRESS: &str = "10.91.0.4";

/// An instance of an account of its own.
struct Tenant {
    key: String,
    id: i64,
}

impl Tenant {
    async fn new(castellan: &mut Installation, name: &str) -> Self {
        let key = castellan.create_account(&format!("{name}@x.test")).await;
        castellan.key.clone_from(&key);
        let body = json!({
            "name": name, "plan": "mouse-1", "region": "local::this-machine",
            "vpc_subnet": SUBNET,
        });
        let (status, created) = castellan.post("/api/instances", &body).await;
        assert_eq!(status, 200, "{created}");
        Self { key, id: created["id"].as_i64().unwrap() }
    }

    async fn until_running(&self, castellan: &mut Installation) -> Value {
        castellan.key.clone_from(&self.key);
        castellan.until_running(self.id).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_networks_with_the_same_subnet_serve_their_own() {
    if let Some(missing) = cloud_local::missing_for_networks() {
        return host::testing::skip("networks", &missing);
    }
    let mut castellan = Installation::start_in_namespaces().await;
    let tenants =
        [Tenant::new(&mut castellan, "one").await, Tenant::new(&mut castellan, "other").await];
    let mut clients = Vec::new();
    for tenant in &tenants {
        let instance = tenant.until_running(&mut castellan).await;
        clients.push(client(&castellan, &instance).await);
        let (_, nodes) = castellan.get(&format!("/api/instances/{}/nodes", tenant.id)).await;
        assert_eq!(nodes[0]["private_ip"], ADDRESS, "{nodes}");
        assert_eq!(nodes[0]["hostname_internal"], ADDRESS, "{nodes}");
        assert_eq!(instance["brokers"], format!("{ADDRESS}:9094"), "{instance}");
    }
    // Nobody on this host but the control plane gets in.
    let there: SocketAddr = format!("{ADDRESS}:9094").parse().unwrap();
    assert!(TcpStream::connect_timeout(&there, Duration::from_secs(1)).is_err());
    for (client, message) in clients.iter().zip(["for one", "for the other"]) {
        client.write("SCRAM-SHA-256", message).await;
    }
    for (client, message) in clients.iter().zip(["for one", "for the other"]) {
        assert_eq!(client.read("tour", "SCRAM-SHA-512").await, [message]);
    }

    // A control plane that comes back finds them as they were.
    let agents = castellan.agents();
    castellan.kill_control_plane().await;
    castellan.serve().await;
    for tenant in &tenants {
        tenant.until_running(&mut castellan).await;
    }
    assert_eq!(castellan.agents(), agents);
    assert_eq!(clients[0].read("tour", "SCRAM-SHA-256").await, ["for one"]);

    let [one, other] = &tenants;
    castellan.key.clone_from(&one.key);
    assert_eq!(castellan.delete(&format!("/api/instances/{}", one.id)).await, 204);
    castellan
        .until("its network is gone", async || {
            let left = members(&castellan.data());
            if left.len() == 1 { Ok(()) } else { Err(left) }
        })
        .await;
    other.until_running(&mut castellan).await;
    assert_eq!(clients[1].read("tour", "SCRAM-SHA-256").await, ["for the other"]);

    let data = castellan.data();
    let parts = network_parts(&data).unwrap().into_iter();
    let mut ours = parts.filter(|part| matches!(part.whose, Whose::Network(_)));
    let tag = ours.next().unwrap().found.unwrap().tag;
    castellan.purge().await;
    let mut left = network_parts(&data).unwrap().into_iter().filter_map(|part| part.found);
    assert_eq!(left.find(|found| found.tag == tag), None);
}

/// The namespaces of servers, with the networks they are in.
fn members(data: &Path) -> Vec<(i64, PathBuf)> {
    let parts = network_parts(data).unwrap().into_iter();
    let member = |part: NetworkPart| {
        let Whose::Network(id) = part.whose else { return None };
        let is_member = part.found.is_some_and(|found| !found.is_stale) && {
            // `castellan-<tag>-<slot>-<n>`
            part.name.matches('-').count() == 3
        };
        is_member.then(|| (id.0, Path::new("/run/netns").join(&part.name)))
    };
    parts.filter_map(member).collect()
}

/// A customer's machine in the network of the instance.
async fn client(castellan: &Installation, instance: &Value) -> Kcat {
    let network = instance["vpc"]["id"].as_i64().unwrap();
    let members = members(&castellan.data());
    let member = members.into_iter().find(|(id, _)| *id == network).unwrap();
    Kcat::new(castellan, instance).await.within(member.1)
}
