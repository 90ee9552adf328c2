//! What a broker tells of itself over HTTP, to its own host alone.
//!
//! Everything would be thousands of series; each one served costs the broker at
//! every look. The list is what alarms and graphs are made of.

use super::BrokerSpec;
use super::settings::Settings;

/// Regular expressions over whole names, without the labels. The JVM's own heap
/// and collections are always served.
const SERVED: [&str; 9] = [
    "kafka_server_brokertopicmetrics_(bytesin|bytesout|messagesin|replicationbytesin\
     |replicationbytesout)persec",
    "kafka_network_requestmetrics_totaltimems",
    "kafka_server_replicamanager_(underreplicatedpartitions|underminisrpartitioncount\
     |offlinereplicacount|partitioncount|leadercount|isrshrinkspersec|isrexpandspersec)",
    "kafka_controller_kafkacontroller_(offlinepartitionscount|activecontrollercount\
     |fencedbrokercount)",
    "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent",
    "kafka_log_log_size",
    "kafka_log_logmanager_offlinelogdirectorycount",
    "kafka_server_socket_server_metrics_(connection_count|failed_authentication)",
    "kafka_server_raft_metrics_(current_state|current_leader|current_epoch|high_watermark\
     |log_end_offset|number_of_voters)",
];

pub fn settings(settings: &mut Settings, spec: &BrokerSpec) {
    let Some(listener) = &spec.listeners.metrics else { return };
    let url = format!("http://{}:{}", listener.bind_host, listener.port);
    settings.all([
        ("metric.reporters", "io.strimzi.kafka.metrics.KafkaPrometheusMetricsReporter"),
        ("kafka.metrics.reporters", "io.strimzi.kafka.metrics.YammerPrometheusMetricsReporter"),
        ("prometheus.metrics.reporter.listener", &url),
        ("prometheus.metrics.reporter.allowlist", &SERVED.join(",")),
    ]);
    // Nobody reads JMX, and filling it costs a start more than the reporter does.
    if spec.release.adds_jmx {
        settings.set("auto.include.jmx.reporter", false);
    }
}
