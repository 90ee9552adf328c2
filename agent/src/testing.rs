//! Documents and waits that several tests share.

use model::{Clock as _, InstanceId, KafkaVersion, ServerId, ServerRole};
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use wire::agent::{
    AgentStart, Desired, DesiredBroker, DesiredDisk, DiskMarker, Format, LogIntegrations, Outbound,
    Run,
};

pub fn start() -> AgentStart {
    AgentStart {
        server_id: ServerId(11),
        incarnation: 1,
        control_plane: "https://127.0.0.1:1".into(),
        fleet_ca: String::new(),
        token: None,
        host: <_>::default(),
        uid: None,
    }
}

pub fn marker() -> DiskMarker {
    DiskMarker {
        disk_id: "00000000-0000-4000-8000-000000000011".parse().unwrap(),
        instance_id: InstanceId(3),
        server_id: ServerId(11),
    }
}

pub fn desired() -> Desired {
    Desired {
        revision: 1,
        store_epoch: 0,
        server_id: ServerId(11),
        incarnation: 1,
        instance_id: InstanceId(3),
        node_id: 1,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        cluster_id: "cluster-A".into(),
        disk: DesiredDisk {
            id: marker().disk_id,
            directory_id: "directory-A".into(),
            format: Some(Format { initial_controllers: vec!["1@host:9090:directory-A".into()] }),
        },
        run: Run::Running,
        launch: 0,
        rehearse: false,
        broker: Some(DesiredBroker {
            kafka_version: KafkaVersion::new(4, 3, 1),
            properties: "node.id=1\n".into(),
            logging_file: "log4j2.yaml".into(),
            logging: "Configuration: {}\n".into(),
            jvm_flags: vec![],
            config_hash: "hash-1".into(),
        }),
        certificates: vec![],
        trust: <_>::default(),
        revoked: vec![],
    }
}

/// Where logs go: nowhere.
pub fn integrations(revision: i64) -> LogIntegrations {
    LogIntegrations {
        revision,
        instance_id: InstanceId(3),
        instance_name: "orders".into(),
        tags: vec!["blue".into()],
        server_name: "mouse-01".into(),
        hostname: "mouse-01.example.com".into(),
        integrations: vec![],
        outbound: Outbound { allow_private_addresses: true, ..Outbound::default() },
    }
}

/// Polls until `done`, and says what it last saw if that never comes.
pub async fn wait_for<T: Debug>(read: impl Fn() -> T, done: impl Fn(&T) -> bool) -> T {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let state = read();
        if done(&state) {
            return state;
        }
        assert!(Instant::now() < deadline, "never came, last state {state:?}");
        sleep(Duration::from_millis(2)).await;
    }
}

pub fn authority() -> pki::Authority {
    let entropy = model::SeededEntropy::new(1);
    pki::Authority::create("test", model::SystemClock.now(), &entropy).unwrap()
}

/// A certificate of thirty days for the key of a request.
pub fn sign(authority: &pki::Authority, csr: &str) -> String {
    let leaf = pki::Leaf {
        common_name: "server-11".into(),
        hosts: vec!["127.0.0.1".into()],
        usage: pki::Usage::Both,
        valid_for: model::SignedDuration::from_hours(24 * 30),
    };
    let request = pki::Request::parse(csr).unwrap();
    let entropy = model::SeededEntropy::new(2);
    authority.issue(request, &leaf, model::SystemClock.now(), &entropy).unwrap()
}
