//! From a broker's page of metrics to series. Pure.
//!
//! Counters stay counters here; what they grow by is told by two scrapes.

use super::exposition::{self, Line};
use model::Series;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a broker says of itself at one time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scrape {
    /// When the JVM began: its counters are from then.
    pub started: Option<f64>,
    pub gauges: BTreeMap<Series, f64>,
    pub counters: BTreeMap<Series, f64>,
    pub topics: BTreeMap<Arc<str>, TopicCounts>,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TopicCounts {
    pub bytes_in: f64,
    pub bytes_out: f64,
    pub messages_in: f64,
    /// No counter: the bytes on disk now.
    pub size: f64,
}

impl Scrape {
    pub fn read(text: &str) -> Self {
        let mut scrape = Self::default();
        let mut is_active_controller = false;
        for line in exposition::lines(text) {
            if line.name == "kafka_controller_kafkacontroller_activecontrollercount" {
                is_active_controller = line.value > 0.0;
            }
            scrape.take(line);
        }
        if !is_active_controller {
            scrape.gauges.remove(&Series::OfflinePartitions);
        }
        scrape
    }

    fn take(&mut self, line: Line<'_>) {
        use Series as S;
        let value = line.value;
        match line.name {
            "kafka_server_brokertopicmetrics_bytesinpersec_total" => match self.topic(&line) {
                Some(topic) => topic.bytes_in = value,
                None => self.count_all(&line, &[S::BytesIn, S::NetworkIn]),
            },
            "kafka_server_brokertopicmetrics_bytesoutpersec_total" => match self.topic(&line) {
                Some(topic) => topic.bytes_out = value,
                None => self.count_all(&line, &[S::BytesOut, S::NetworkOut]),
            },
            "kafka_server_brokertopicmetrics_messagesinpersec_total" => match self.topic(&line) {
                Some(topic) => topic.messages_in = value,
                None => self.count_all(&line, &[S::MessagesIn]),
            },
            // Between brokers; it goes over the same network.
            "kafka_server_brokertopicmetrics_replicationbytesinpersec_total" => {
                self.count(S::NetworkIn, value);
            }
            "kafka_server_brokertopicmetrics_replicationbytesoutpersec_total" => {
                self.count(S::NetworkOut, value);
            }
            "kafka_network_requestmetrics_totaltimems" => self.take_time(&line),
            "kafka_log_log_size" => {
                *self.gauges.entry(S::LogSize).or_default() += value;
                if let Some(topic) = self.topic(&line) {
                    topic.size += value;
                }
            }
            "kafka_server_raft_metrics_current_state_info" => self.take_state(&line),
            "jvm_memory_used_bytes" if line.label("area") == Some("heap") => {
                self.gauges.insert(S::HeapUsed, value);
            }
            "jvm_memory_max_bytes" if line.label("area") == Some("heap") => {
                self.gauges.insert(S::HeapMax, value);
            }
            "jvm_gc_collection_seconds_sum" => self.count(S::GcTime, value),
            "kafka_server_socket_server_metrics_connection_count" => {
                *self.gauges.entry(S::Connections).or_default() += value;
            }
            "kafka_server_socket_server_metrics_failed_authentication" => {
                self.count(S::FailedLogins, value);
            }
            "process_start_time_seconds" => self.started = Some(value),
            name => self.take_plain(name, value),
        }
    }

    /// Those without labels.
    fn take_plain(&mut self, name: &str, value: f64) {
        use Series as S;
        let gauge = match name {
            "kafka_server_replicamanager_underreplicatedpartitions" => S::UnderReplicated,
            "kafka_server_replicamanager_underminisrpartitioncount" => S::UnderMinIsr,
            "kafka_server_replicamanager_partitioncount" => S::Partitions,
            "kafka_server_replicamanager_leadercount" => S::Leaders,
            "kafka_controller_kafkacontroller_offlinepartitionscount" => S::OfflinePartitions,
            "kafka_server_replicamanager_isrshrinkspersec_total" => {
                return self.count(S::IsrShrinks, value);
            }
            "kafka_server_replicamanager_isrexpandspersec_total" => {
                return self.count(S::IsrExpands, value);
            }
            "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_total" => {
                return self.count(S::RequestIdle, value);
            }
            _ => return,
        };
        self.gauges.insert(gauge, value);
    }

    fn take_time(&mut self, line: &Line<'_>) {
        use Series as S;
        let series = match (line.label("request"), line.label("quantile")) {
            (Some("Produce"), Some("0.5")) => S::ProduceP50,
            (Some("Produce"), Some("0.99")) => S::ProduceP99,
            (Some("FetchConsumer"), Some("0.5")) => S::FetchP50,
            (Some("FetchConsumer"), Some("0.99")) => S::FetchP99,
            _ => return,
        };
        self.gauges.insert(series, line.value);
    }

    /// An observer of the quorum is no voter, so it has no value.
    fn take_state(&mut self, line: &Line<'_>) {
        match line.label("current_state") {
            Some("leader") => self.gauges.insert(Series::QuorumLeader, 1.0),
            Some("observer") | None => None,
            Some(_) => self.gauges.insert(Series::QuorumLeader, 0.0),
        };
    }

    fn count_all(&mut self, line: &Line<'_>, series: &[Series]) {
        // Kafka's own topics have a label too, and are in the sum already.
        if line.label("topic").is_none() {
            for series in series {
                self.count(*series, line.value);
            }
        }
    }

    fn count(&mut self, series: Series, value: f64) {
        *self.counters.entry(series).or_default() += value;
    }

    /// The customer's topic that a line is of; none for Kafka's internal topics.
    fn topic(&mut self, line: &Line<'_>) -> Option<&mut TopicCounts> {
        let name = line.label("topic").filter(|name| !name.starts_with("__"))?;
        if !self.topics.contains_key(name) {
            self.topics.insert(name.into(), TopicCounts::default());
        }
        self.topics.get_mut(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"# TYPE kafka_server_brokertopicmetrics_bytesinpersec_total counter
kafka_server_brokertopicmetrics_bytesinpersec_total 1000.0
kafka_server_brokertopicmetrics_bytesinpersec_total{topic="orders"} 900.0
kafka_server_brokertopicmetrics_bytesinpersec_total{topic="__consumer_offsets"} 100.0
kafka_server_brokertopicmetrics_replicationbytesinpersec_total 50.0
kafka_network_requestmetrics_totaltimems{request="Produce",quantile="0.5"} 2.0
kafka_network_requestmetrics_totaltimems{request="Produce",quantile="0.99"} 9.5
kafka_network_requestmetrics_totaltimems{request="Fetch",quantile="0.99"} 500.0
kafka_server_replicamanager_underreplicatedpartitions 3.0
kafka_controller_kafkacontroller_offlinepartitionscount 7.0
kafka_controller_kafkacontroller_activecontrollercount 0.0
kafka_log_log_size{partition="0",topic="orders"} 10.0
kafka_log_log_size{partition="1",topic="orders"} 20.0
kafka_log_log_size{partition="0",topic="__consumer_offsets"} 5.0
kafka_server_socket_server_metrics_connection_count{listener="SASL_SSL",networkProcessor="1"} 2.0
kafka_server_socket_server_metrics_connection_count{listener="INTERNAL",networkProcessor="2"} 4.0
kafka_server_socket_server_metrics_failed_authentication{listener="SASL_SSL",networkProcessor="1"} 1.0
kafka_server_raft_metrics_current_state_info{current_state="follower"} 1
jvm_memory_used_bytes{area="heap"} 5.0E7
jvm_memory_used_bytes{area="nonheap"} 9.0E7
jvm_gc_collection_seconds_sum{gc="G1 Old Generation"} 0.5
jvm_gc_collection_seconds_sum{gc="G1 Young Generation"} 0.25
process_start_time_seconds 1.7E9
"#;

    #[test]
    fn a_page_is_read_into_series() {
        use Series as S;
        let scrape = Scrape::read(PAGE);
        let gauges = [
            (S::ProduceP50, 2.0),
            (S::ProduceP99, 9.5),
            (S::UnderReplicated, 3.0),
            (S::LogSize, 35.0),
            (S::Connections, 6.0),
            (S::HeapUsed, 5.0e7),
            (S::QuorumLeader, 0.0),
        ];
        assert_eq!(scrape.gauges, BTreeMap::from(gauges));
        let counters = [
            (S::BytesIn, 1000.0),
            (S::NetworkIn, 1050.0),
            (S::FailedLogins, 1.0),
            (S::GcTime, 0.75),
        ];
        assert_eq!(scrape.counters, BTreeMap::from(counters));
        let orders = TopicCounts { bytes_in: 900.0, size: 30.0, ..<_>::default() };
        assert_eq!(scrape.topics, BTreeMap::from([("orders".into(), orders)]));
        assert_eq!(scrape.started, Some(1.7e9));
    }

    #[test]
    fn only_the_active_controller_counts_offline_partitions() {
        let active = PAGE.replace("activecontrollercount 0.0", "activecontrollercount 1.0");
        assert_eq!(Scrape::read(&active).gauges.get(&Series::OfflinePartitions), Some(&7.0));
        let leader = PAGE.replace("\"follower\"", "\"leader\"");
        assert_eq!(Scrape::read(&leader).gauges.get(&Series::QuorumLeader), Some(&1.0));
        let observer = PAGE.replace("\"follower\"", "\"observer\"");
        assert_eq!(Scrape::read(&observer).gauges.get(&Series::QuorumLeader), None);
        assert_eq!(Scrape::read("no page at all"), Scrape::default());
    }
}
