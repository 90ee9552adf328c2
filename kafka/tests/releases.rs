//! Supported releases start with what we render for them, log, and tell how they
//! do: the newest, or all of them with `CASTELLAN_TEST_ALL`.

#![allow(clippy::unwrap_used, reason = "it is a test")]

use kafka::artifacts::{Artifacts, default_cache_root};
use kafka::{Endpoint, metrics, versions};
use model::KafkaVersion;
use std::collections::BTreeMap;
use std::path::Path;
use test_support::broker::{Authority, Broker};

/// What alarms and graphs are made of.
const SERIES: [&str; 26] = [
    "kafka_server_brokertopicmetrics_bytesinpersec_total ",
    "kafka_server_brokertopicmetrics_bytesoutpersec_total ",
    "kafka_server_brokertopicmetrics_messagesinpersec_total ",
    "kafka_server_brokertopicmetrics_replicationbytesinpersec_total ",
    "kafka_server_brokertopicmetrics_replicationbytesoutpersec_total ",
    "kafka_network_requestmetrics_totaltimems{request=\"Produce\",quantile=\"0.5\"} ",
    "kafka_network_requestmetrics_totaltimems{request=\"Produce\",quantile=\"0.99\"} ",
    "kafka_network_requestmetrics_totaltimems{request=\"FetchConsumer\",quantile=\"0.5\"} ",
    "kafka_network_requestmetrics_totaltimems{request=\"FetchConsumer\",quantile=\"0.99\"} ",
    "kafka_server_replicamanager_underreplicatedpartitions ",
    "kafka_server_replicamanager_underminisrpartitioncount ",
    "kafka_server_replicamanager_isrshrinkspersec_total ",
    "kafka_server_replicamanager_isrexpandspersec_total ",
    "kafka_controller_kafkacontroller_offlinepartitionscount ",
    "kafka_controller_kafkacontroller_activecontrollercount ",
    "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_total ",
    "kafka_log_log_size{",
    "kafka_log_logmanager_offlinelogdirectorycount ",
    "kafka_server_socket_server_metrics_connection_count{listener=\"SASL_SSL\",",
    "kafka_server_socket_server_metrics_failed_authentication{listener=\"SASL_SSL\",",
    "kafka_server_raft_metrics_current_state_info{current_state=\"leader\"} 1",
    "kafka_server_raft_metrics_current_leader 1.0",
    "kafka_server_raft_metrics_high_watermark ",
    "jvm_memory_used_bytes{area=\"heap\"} ",
    "jvm_gc_collection_seconds_sum{",
    "process_start_time_seconds ",
];
/// Everything would be seven thousand.
const MOST_SERIES: usize = 1000;

#[tokio::test]
async fn releases_start_log_and_serve_metrics() {
    let all = versions::all();
    let every = std::env::var_os("CASTELLAN_TEST_ALL").is_some();
    for release in if every { all } else { &all[all.len() - 1..] } {
        let broker = Broker::start(release.version, &Authority::new(), false).await;
        let line = format!("Kafka version: {}", release.version);
        broker
            .until("it logs its version", || broker.read("logs/server.log").contains(&line))
            .await;
        serves_metrics(&broker, release.version).await;
        assert_eq!(broker.read("logs/output"), "", "nothing but failures is printed");
        assert_eq!(broker.stop().await, "exit status: 143");
    }
    starts_without_the_reporter(all[all.len() - 1].version).await;
}

async fn serves_metrics(broker: &Broker, version: KafkaVersion) {
    let listener = Endpoint::from(broker.listeners.metrics.as_ref().unwrap());
    let text = metrics::scrape(&listener).await.unwrap();
    let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let missing = |series: &&str| !values.iter().any(|value| value.starts_with(*series));
    let missing: Vec<&str> = SERIES.into_iter().filter(missing).collect();
    assert!(missing.is_empty(), "Kafka {version} does not serve {missing:#?} in\n{text}");
    assert!(values.len() < MOST_SERIES, "Kafka {version} serves {} series", values.len());
}

/// A Kafka that an operator unpacked has no reporter, and says so.
async fn starts_without_the_reporter(version: KafkaVersion) {
    let fetched = Artifacts::new(default_cache_root(), BTreeMap::new());
    let jars = fetched.ensure(version, &|_| {}).await.unwrap().class_path;
    let unpacked = tempfile::tempdir().unwrap();
    std::fs::create_dir(unpacked.path().join("libs")).unwrap();
    // Our own jar comes first and is added again.
    for jar in jars.iter().skip(1).filter(|jar| !is_of_the_reporter(jar)) {
        let link = unpacked.path().join("libs").join(jar.file_name().unwrap());
        std::os::unix::fs::symlink(jar, link).unwrap();
    }
    let named = BTreeMap::from([(version.to_string(), unpacked.path().to_owned())]);
    let artifacts = Artifacts::new(unpacked.path().join("cache"), named);
    let broker = Broker::start_from(&artifacts, version, &Authority::new(), false).await;
    let line = "Metrics are not served";
    broker.until("it says so", || broker.read("logs/server.log").contains(line)).await;
    assert_eq!(broker.stop().await, "exit status: 143");
}

fn is_of_the_reporter(jar: &Path) -> bool {
    let name = jar.file_name().unwrap().to_string_lossy();
    name.starts_with("prometheus-") || name.starts_with("metrics-reporter-")
}
