//! The rows and documents of a cluster, as they are at first.

use super::now;
use crate::world::ServerView;
use kafka::client::Replica;
use model::*;
use std::collections::BTreeMap;
use uuid::Uuid;
use wire::agent::{DesiredBroker, Phase, Report};

pub fn server_id(number: u32) -> ServerId {
    ServerId(i64::from(number))
}

pub fn node(number: u32) -> i32 {
    i32::try_from(number).unwrap()
}

pub fn view(number: u32) -> ServerView {
    let address = format!("127.64.0.{number}");
    let listener =
        |port| Listener { bind_host: address.clone(), advertised_host: address.clone(), port };
    let controller = (number <= 3).then_some(ServerRole::Controller);
    let server = Server {
        id: server_id(number),
        instance_id: InstanceId(1),
        number,
        node_id: node(number),
        incarnation: 1,
        roles: [ServerRole::Broker].into_iter().chain(controller).collect(),
        name: format!("x-0{number}"),
        kafka_version: KafkaVersion::new(4, 3, 1),
        host_id: HostId(Uuid::nil()),
        zone: "a".into(),
        private_ip: address.clone(),
        listeners: Listeners {
            plaintext: None,
            ssl: listener(9093),
            sasl_scram: listener(9094),
            internal: listener(9091),
            controller: listener(9090),
            metrics: None,
            reached_at: None,
            published: None,
        },
        state: ServerState::Planned,
        membership: Membership::Member,
        enrolled_at: None,
        last_seen: None,
        certificate_generation: 1,
        wanted: Wanted::default(),
    };
    let disk = Disk {
        id: DiskId(Uuid::from_u128(number.into())),
        instance_id: InstanceId(1),
        server_id: server.id,
        size_gb: 1,
        made_gb: 1,
        directory_id: "d".into(),
        founding: true,
        state: DiskState::Planned,
    };
    ServerView {
        server,
        disk: Some(disk),
        broker: None,
        revision: 0,
        desired: None,
        report: None,
        report_text: None,
        token_expires_at: None,
    }
}

pub fn instance(nodes: u32) -> Instance {
    Instance {
        id: InstanceId(1),
        account_id: AccountId(Uuid::nil()),
        provider_id: Uuid::nil(),
        name: InstanceName::parse("orders").unwrap(),
        plan: PlanName("mouse-1".into()),
        region: RegionName("local".into()),
        nodes,
        kafka_version: KafkaVersion::new(4, 3, 1),
        disk_size: None,
        tags: Tags::default(),
        vpc_id: VpcId(1),
        no_default_alarms: false,
        username: "orders".into(),
        password: Secret::new("p"),
        apikey: Secret::new("k"),
        hostname: "orders.example.test".into(),
        cluster_id: "c".into(),
        created_at: now(),
        deleted_at: None,
        stopped: false,
        generation: 1,
        settings: BTreeMap::new(),
        kafka_generation: 0,
        progress: InstanceProgress::default(),
    }
}

pub fn action(kind: ActionKind, servers: &[u32]) -> Action {
    Action {
        id: ActionId(1),
        instance_id: InstanceId(1),
        kind,
        servers: servers.to_vec(),
        asked_by: "ada@example.test".into(),
        source: "cli".into(),
        asked_at: now(),
        generation: 2,
        cancelled_at: None,
        ended_at: None,
        superseded_by: None,
    }
}

pub fn broker() -> DesiredBroker {
    DesiredBroker {
        kafka_version: KafkaVersion::new(4, 3, 1),
        properties: String::new(),
        logging_file: String::new(),
        logging: String::new(),
        jvm_flags: vec![],
        config_hash: "h".into(),
    }
}

pub fn report(phase: Phase, revision: i64, launch: i64) -> Report {
    let text = serde_json::json!({
        "incarnation": 1, "agent_version": "0", "phase": phase, "revision": revision,
        "launch": launch,
    });
    serde_json::from_value(text).unwrap()
}

/// A controller that runs has all metadata; another one had it a minute ago.
pub fn voter(view: &ServerView) -> Replica {
    let ago = if view.is_up() { SignedDuration::ZERO } else { SignedDuration::from_mins(1) };
    let at = Some(now() - ago);
    Replica {
        id: view.server.node_id,
        directory: None,
        log_end_offset: Some(9),
        last_fetch: at,
        last_caught_up: at,
    }
}
