//! A server's documents as data. No database is asked.

use crate::fixture::new_server;
use model::agent::{Phase, Run};
use model::{InstanceId, Server, ServerId};
use store::ServerRecord;

fn record(desired: Option<&str>, report: Option<&str>) -> ServerRecord {
    let server = Server { incarnation: 3, ..new_server(ServerId(1), InstanceId(2), 9000) };
    ServerRecord {
        server,
        broker: None,
        revision: 0,
        desired: desired.map(Into::into),
        report: report.map(Into::into),
        token: None,
        enrolled_key: None,
    }
}

#[test]
fn documents_of_the_first_castellan_can_be_read() {
    let desired = r#"{"revision":9,"server_id":1,"incarnation":3,"instance_id":2,"node_id":1,
        "cluster_id":"c","disk":{"id":"00000000-0000-4000-8000-000000000011",
        "directory_id":"d"},"run":"stopped"}"#;
    let report = r#"{"incarnation":3,"agent_version":"0.1.0","revision":9,"phase":"stopped"}"#;
    let record = record(Some(desired), Some(report));
    let desired = record.parse_desired().unwrap().unwrap();
    assert_eq!((desired.run, desired.launch, desired.store_epoch), (Run::Stopped, 0, 0));
    let report = record.current_report().unwrap();
    assert_eq!((report.phase, report.launch), (Phase::Stopped, 0));
    assert!(report.has_stopped_by(&desired));
}

#[test]
fn a_report_counts_if_it_can_be_read_and_is_of_this_incarnation() {
    let report = |incarnation: i64, phase: &str| {
        let text = format!(
            r#"{{"incarnation":{incarnation},"agent_version":"9","revision":1,"phase":"{phase}"}}"#
        );
        let record = record(None, Some(&text));
        (record.parse_report().is_some(), record.current_report().map(|report| report.phase))
    };
    assert_eq!(report(3, "running"), (true, Some(Phase::Running)));
    assert_eq!(report(3, "of a newer agent"), (true, Some(Phase::Unknown)));
    assert_eq!(report(2, "running"), (true, None));
    assert_eq!(record(None, Some("no JSON")).parse_report(), None);
    assert_eq!(record(None, None).parse_report(), None);
}

#[test]
fn a_desired_state_that_can_not_be_read_is_an_error_where_it_matters() {
    let broken = record(Some("no JSON"), None);
    let error = broken.parse_desired().unwrap_err().to_string();
    assert!(error.starts_with("the store holds a desired state that can't be read"), "{error}");
    assert_eq!((broken.last_desired(), broken.desired_launch()), (None, 0));
    assert_eq!(record(None, None).parse_desired().unwrap(), None);
}
