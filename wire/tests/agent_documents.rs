//! The agent protocol as it travels. Agents and control planes of two releases
//! meet, so a snapshot that changes is a question: can the other one read it?
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use model::{InstanceId, IntegrationId, KafkaVersion, Secret, ServerId, ServerRole};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wire::agent::{
    AgentStart, CertificateRequest, Claim, Claimed, Deliveries, Desired, DesiredBroker,
    DesiredCertificate, DesiredDisk, Enrol, Enrolled, FailedDelivery, Format, HostSettings,
    InstalledCertificate, Loading, LogIntegration, LogIntegrations, Outbound, Phase, Report,
    Reported, Run, StoreRoom,
};
use wire::metrics::{Sample, Samples, Taken, TopicSample};

fn enrol() -> Enrol {
    Enrol {
        server_id: ServerId(11),
        incarnation: 2,
        token: Secret::new("a token"),
        csr: "a request".into(),
        report: Some(report()),
    }
}

fn desired() -> Desired {
    Desired {
        revision: 5,
        store_epoch: 1,
        server_id: ServerId(11),
        incarnation: 2,
        instance_id: InstanceId(3),
        node_id: 1,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        cluster_id: "a cluster".into(),
        disk: DesiredDisk {
            id: "00000000-0000-4000-8000-000000000011".parse().unwrap(),
            directory_id: "a directory".into(),
            format: Some(Format { initial_controllers: vec!["1@host:9090:a directory".into()] }),
        },
        run: Run::Running,
        launch: 0,
        rehearse: false,
        broker: Some(DesiredBroker {
            kafka_version: KafkaVersion::new(4, 3, 1),
            properties: "node.id=1\n".into(),
            logging_file: "log4j2.yaml".into(),
            logging: "Configuration: {}\n".into(),
            jvm_flags: vec!["-Xmx256m".into()],
            config_hash: "a hash".into(),
        }),
        certificates: vec![DesiredCertificate {
            name: "internal".into(),
            generation: 1,
            certificate: Some("a certificate".into()),
        }],
        trust: BTreeMap::from([("internal".into(), "an authority".into())]),
        revoked: vec!["4f1c0000000000000000000000000a7b".into()],
    }
}

fn report() -> Report {
    Report {
        incarnation: 2,
        agent_version: "0.1.0".into(),
        agent_pid: Some(4710),
        revision: 5,
        store_epoch: 1,
        phase: Phase::Failed,
        detail: "the broker ended".into(),
        log_tail: vec!["ERROR the listener is taken".into()],
        broker_pid: Some(4711),
        restarts: 3,
        config_hash: Some("a hash".into()),
        launch: 0,
        disk_fault: Some("the disk is lost".into()),
        waits_for_leave: Some("it is not its turn".into()),
        wait_is_passing: true,
        loading: Some(Loading { done: 2, of: 7, recovers: true }),
        silent_since: Some("2026-01-01T12:03:30Z".parse().unwrap()),
        requests: vec![CertificateRequest {
            name: "internal".into(),
            generation: 1,
            csr: "a request".into(),
        }],

        certificates: vec![InstalledCertificate {
            name: "internal".into(),
            not_before: "2026-01-01T11:00:00Z".parse().unwrap(),
            not_after: "2027-02-02T12:00:00Z".parse().unwrap(),
        }],
        integrations: Some(Deliveries {
            revision: 4,
            failures: vec![FailedDelivery {
                id: IntegrationId(2),
                error: "the token is refused".into(),
                dropped: 7,
            }],
        }),
    }
}

fn reported() -> Reported {
    Reported { integrations_revision: 4 }
}

fn log_integrations() -> LogIntegrations {
    LogIntegrations {
        revision: 4,
        instance_id: InstanceId(3),
        instance_name: "orders".into(),
        tags: vec!["blue".into()],
        server_name: "u7k2m9qa-01".into(),
        hostname: "u7k2m9qa-01.example.com".into(),
        integrations: vec![LogIntegration {
            id: IntegrationId(2),
            version: 3,
            system: "loggly".into(),
            config: BTreeMap::from([("token".into(), Secret::new("a token"))]),
        }],
        outbound: Outbound {
            allow_private_addresses: true,
            proxy: Some(Secret::new("http://proxy.example.com:3128")),
            authority_pem: Some("an authority".into()),
            endpoints: BTreeMap::from([("loggly".into(), "https://gate.example.com".into())]),
        },
    }
}

fn enrolled() -> Enrolled {
    let desired = serde_json::to_value(desired()).unwrap();
    Enrolled { certificate: "a certificate".into(), desired: Some(desired) }
}

fn claim() -> Claim {
    Claim { revision: 5, store_epoch: 1, silent: true }
}

fn claimed() -> Claimed {
    Claimed { go: false, reason: "the ticket has expired".into(), passing: true }
}

fn start() -> AgentStart {
    AgentStart {
        server_id: ServerId(11),
        incarnation: 2,
        control_plane: "https://127.0.0.1:7443".into(),
        fleet_ca: "an authority".into(),
        token: Some(Secret::new("a token")),
        host: HostSettings {
            cache: Some("/cache".into()),
            java: Some("/java".into()),
            distributions: BTreeMap::from([("4.3.1".into(), "/kafka".into())]),
            store: Some(StoreRoom { directory: "/data".into(), bytes: 7 }),
            warm_rolls: false,
            standby: true,
        },
        uid: Some(1_900_000_001),
    }
}

/// The least that an agent of the first release takes.
fn minimal_desired() -> Value {
    json!({
        "revision": 5,
        "server_id": 11,
        "incarnation": 2,
        "instance_id": 3,
        "node_id": 1,
        "cluster_id": "a cluster",
        "disk": {
            "id": "00000000-0000-4000-8000-000000000011",
            "directory_id": "a directory"
        },
        "run": "stopped"
    })
}

fn minimal_report() -> Value {
    json!({ "incarnation": 2, "agent_version": "0.1.0", "revision": 5, "phase": "stopped" })
}

fn minimal_enrol() -> Value {
    json!({ "server_id": 11, "incarnation": 2, "token": "a token", "csr": "a request" })
}

fn minimal_start() -> Value {
    json!({
        "server_id": 11,
        "incarnation": 2,
        "control_plane": "https://127.0.0.1:7443",
        "fleet_ca": "an authority"
    })
}

fn read<T: DeserializeOwned>(document: Value) -> T {
    serde_json::from_value(document).unwrap()
}

#[test]
fn whole_documents() {
    insta::assert_json_snapshot!("enrol", enrol());
    insta::assert_json_snapshot!("enrolled", enrolled());
    insta::assert_json_snapshot!("desired", desired());
    insta::assert_json_snapshot!("report", report());
    insta::assert_json_snapshot!("agent_start", start());
    insta::assert_json_snapshot!("claim", claim());
    insta::assert_json_snapshot!("claimed", claimed());
    insta::assert_json_snapshot!("reported", reported());
    insta::assert_json_snapshot!("log_integrations", log_integrations());
}

#[test]
fn what_an_earlier_release_leaves_out_has_a_default() {
    insta::assert_json_snapshot!("desired_minimal", read::<Desired>(minimal_desired()));
    insta::assert_json_snapshot!("report_minimal", read::<Report>(minimal_report()));
    insta::assert_json_snapshot!("agent_start_minimal", read::<AgentStart>(minimal_start()));
    insta::assert_json_snapshot!("enrol_minimal", read::<Enrol>(minimal_enrol()));
    let enrolled = read::<Enrolled>(json!({ "certificate": "a certificate" }));
    insta::assert_json_snapshot!("enrolled_minimal", enrolled);
    insta::assert_json_snapshot!("claim_minimal", read::<Claim>(json!({ "revision": 5 })));
    insta::assert_json_snapshot!("claimed_minimal", read::<Claimed>(json!({ "go": true })));
    assert_eq!(read::<Reported>(json!({})), Reported::default());
    let sent: LogIntegration = read(json!({ "id": 2, "system": "loggly", "config": {} }));
    assert_eq!(sent.version, 0);
    let failed: FailedDelivery = read(json!({ "id": 2 }));
    let nothing = FailedDelivery { id: IntegrationId(2), error: String::new(), dropped: 0 };
    assert_eq!(failed, nothing);
}

/// Adds a field to every object of a document.
fn from_the_future(document: impl serde::Serialize) -> Value {
    fn add(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(add),
            Value::Array(entries) => entries.iter_mut().for_each(add),
            _ => return,
        }
        if let Value::Object(fields) = value {
            fields.insert("of_a_later_release".into(), json!("a text"));
        }
    }
    let mut value = serde_json::to_value(document).unwrap();
    add(&mut value);
    value
}

#[test]
fn fields_of_a_later_release_are_passed_over() {
    read::<Enrol>(from_the_future(enrol()));
    read::<Enrolled>(from_the_future(enrolled()));
    assert_eq!(read::<Report>(from_the_future(report())), report());
    assert_eq!(read::<Claim>(from_the_future(claim())), claim());
    assert_eq!(read::<Claimed>(from_the_future(claimed())), claimed());
    assert_eq!(read::<Reported>(from_the_future(reported())), reported());
    let mut later = from_the_future(log_integrations());
    later["integrations"][0]["config"] = json!({ "token": "a token" });
    later["outbound"]["endpoints"] = json!(log_integrations().outbound.endpoints);
    assert_eq!(read::<LogIntegrations>(later), log_integrations());
    let least = json!({ "revision": 4, "instance_id": 3, "instance_name": "orders",
        "server_name": "u7k2m9qa-01" });
    assert_eq!(read::<LogIntegrations>(least).outbound, Outbound::default());
    // These two hold maps, in which an unknown name is an entry.
    let known = read::<Desired>(from_the_future(desired()));
    assert_eq!(Desired { trust: desired().trust, ..known }, desired());
    let mut later = from_the_future(start());
    later["host"]["distributions"] = json!({});
    read::<AgentStart>(later);
}

#[test]
fn samples_travel_by_name_and_without_what_is_zero() {
    let sent = Samples {
        incarnation: 2,
        samples: vec![Sample {
            at: 1_794_744_000,
            values: BTreeMap::from([("cpu_cores".into(), 0.1)]),
            topics: BTreeMap::from([(
                "orders".into(),
                TopicSample { bytes_in: 2.5, size: 7.0, ..<_>::default() },
            )]),
        }],
    };
    let text = "{\"incarnation\":2,\"samples\":[{\"at\":1794744000,\
                \"values\":{\"cpu_cores\":0.1},\
                \"topics\":{\"orders\":{\"in\":2.5,\"size\":7.0}}}]}";
    assert_eq!(serde_json::to_string(&sent).unwrap(), text);
    assert_eq!(serde_json::from_str::<Samples>(text).unwrap(), sent);
    let least: Sample = read(json!({"at": 10, "of_a_later_release": 1}));
    assert_eq!(least, Sample { at: 10, ..<_>::default() });
    let taken = Taken { window: "w".into(), kept_through: 10 };
    let later = json!({"window": "w", "kept_through": 10, "of_a_later_release": 1});
    assert_eq!(read::<Taken>(later), taken);
}

#[test]
fn a_phase_of_a_later_release_leaves_the_report_readable() {
    let mut later = serde_json::to_value(report()).unwrap();
    later["phase"] = json!("hibernating");
    assert_eq!(read::<Report>(later), Report { phase: Phase::Unknown, ..report() });
}
