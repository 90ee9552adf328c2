//! Code that runs as a tenant's broker finds its own network and the control plane, and
//! nothing else: no address of the host, no other tenant's server, nothing outside.

use crate::kernel::Network;
use crate::machine::{Machine, sh};
use host::{Spawn, testing};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::Path;
use test_support::installation::{Installation, Processes};
use url::Url;

const SCAN: &str = include_str!("scan.py");
/// What listens on many hosts, and the listeners of brokers.
const PORTS: [u16; 15] =
    [22, 53, 80, 111, 443, 2375, 5432, 6443, 9090, 9091, 9092, 9093, 9094, 9404, 10250];

/// What there is to be found.
pub struct Ground<'a> {
    pub castellan: &'a Installation,
    /// Of the tenant whose broker it is, and of another.
    pub networks: [&'a Network; 2],
    /// The ports of the host that lead to the two.
    pub published: [u16; 2],
    pub outside: &'a Machine,
}

impl Ground<'_> {
    /// From within the first server of the first network.
    pub async fn is_searched(&self, server: &Processes, own: &str) {
        let uid = server.broker.uid().unwrap();
        let service = TcpListener::bind("0.0.0.0:0").unwrap();
        let host_port = service.local_addr().unwrap().port();
        let start = fs::read(self.castellan.server_dir(0).join("start.json")).unwrap();
        let start: Value = serde_json::from_slice(&start).unwrap();
        let agents: Url = start["control_plane"].as_str().unwrap().parse().unwrap();
        let (control, agents) = (agents.host_str().unwrap().to_owned(), agents.port().unwrap());
        let api: Url = self.castellan.customer_url("/").parse().unwrap();
        let [published, others] = self.published;
        let mut ports = PORTS.to_vec();
        ports.extend([host_port, agents, api.port().unwrap(), published, others]);
        let hosts = self.hosts(own, &control);
        let namespaces = self.networks.map(|network| format!("/run/netns/{}", network.name));
        let wanted = json!({
            "hosts": hosts, "ports": ports, "spare": "10.91.0.77/24", "namespaces": namespaces,
        });
        let said = scan(&self.networks[0].servers[0], uid, &wanted).await;
        assert_eq!(said["uid"], uid);
        assert_eq!(said["tried"], hosts.len() * ports.len());
        let inside = fs::read_link(format!("/proc/{}/ns/net", server.broker.pid)).unwrap();
        assert_eq!(said["namespace"], inside.to_str().unwrap(), "the scan is where a broker is");
        assert_eq!(said["worked"], json!([]));
        assert_eq!(said["names"], json!([]), "no name is looked up");
        // Its own listeners, the control plane, and the port that leads back to itself.
        let mut allowed = vec![format!("{control}:{agents}")];
        allowed.extend([9090, 9091, 9092, 9093, 9094, 9404].map(|port| format!("{own}:{port}")));
        allowed.push(format!("{}:{published}", self.outside.gateway));
        let found: BTreeSet<&str> =
            said["open"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(found, allowed.iter().map(String::as_str).collect());
        drop(service);
    }

    fn hosts(&self, own: &str, control: &str) -> Vec<String> {
        let subnet = own.rsplit_once('.').unwrap().0;
        let mut hosts: BTreeSet<String> = (1..16).map(|last| format!("{subnet}.{last}")).collect();
        // Everything that the host itself has, also for the two networks.
        for line in sh("ip -o address").lines() {
            let address = line.split_whitespace().nth(3).unwrap();
            hosts.insert(address.split('/').next().unwrap().to_owned());
        }
        // The servers by their aliases, in all that the host has routes for.
        for line in sh("ip route").lines().filter(|line| line.starts_with("100.")) {
            let block = line.split_once(".0/").unwrap().0;
            hosts.extend((0..6).map(|last| format!("{block}.{last}")));
        }
        hosts.insert(control.to_owned());
        hosts.insert(self.outside.address.to_string());
        for other in ["169.254.169.254", "169.254.170.2", "8.8.8.8", "::1", "fd00:ec2::254"] {
            hosts.insert(other.to_owned());
        }
        hosts.remove("127.0.0.1");
        hosts.into_iter().collect()
    }
}

/// What the scan finds from that namespace as that user.
async fn scan(namespace: &Path, uid: u32, wanted: &Value) -> Value {
    let place = testing::tempdir();
    let home = place.path().join("home");
    host::create_private_dir(&home).unwrap();
    fs::write(home.join("scan.py"), SCAN).unwrap();
    fs::write(home.join("wanted.json"), wanted.to_string()).unwrap();
    for path in [home.join("scan.py"), home.join("wanted.json"), home.clone()] {
        chown(path, Some(uid), Some(uid)).unwrap();
    }
    let spawn = Spawn {
        program: "/usr/bin/python3".into(),
        arguments: ["scan.py", "wanted.json"].map(str::to_owned).into(),
        environment: vec![],
        directory: home.clone(),
        output: home.join("said"),
    };
    let (_, ended) = spawn.start_within(namespace, Some(uid)).unwrap();
    let exit = ended.await;
    let said = fs::read_to_string(home.join("said")).unwrap();
    assert_eq!(exit.0, "exit status: 0", "{said}");
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}
