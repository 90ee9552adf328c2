//! One server becomes three, and topics keep their one replica because the customer says so.
//! What Kafka keeps for itself follows the servers all the same.

use crate::PATIENCE;
use crate::cluster::Cluster;
use checker::{Load, Mode, judge, read_back};
use kafka::client::TopicReplication;
use serde_json::json;
use std::collections::BTreeSet;

/// A topic without a setting of its own.
const PLAIN: &str = "plain";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn topics_keep_one_replica_if_the_customer_says_so() {
    let [.., newest] = kafka::versions::all() else { panic!("there are several") };
    let cluster = Cluster::create(newest, 1).await;
    let path = format!("{}/topics", cluster.path());
    let plain = json!({ "name": PLAIN, "partitions": 3, "replicas": 1 });
    let (status, made) = cluster.castellan.post(&path, &plain).await;
    assert_eq!(status, 201, "{made}");
    write_a_message(&cluster).await;
    // Kafka 4.3.1 leaves the marks of a transaction out where a partition has no leader, as one
    // of a single replica has while its server restarts.
    let mut spec = cluster.load();
    spec.clients.retain(|client| client.mode == Mode::Idempotent);
    let load = Load::start(&spec).await.unwrap();
    load.goes_on(50, PATIENCE).await.unwrap();

    cluster.ask(&json!({ "nodes": 3, "raise_replication": false })).await;
    cluster.until_configured().await;
    cluster.is_of(3).await;
    load.goes_on(50, PATIENCE).await.unwrap();
    write_a_message(&cluster).await;
    let all = cluster.replication().await;
    for name in [PLAIN, &spec.topic] {
        let topic = find(&all, name);
        assert_eq!(replicas(topic), [1].into(), "{topic:?}");
    }
    let busy = find(&all, &spec.topic);
    let leaders: BTreeSet<_> = busy.partitions.iter().map(|it| it.leader).collect();
    assert_eq!(leaders.len(), 3, "they are spread: {busy:?}");
    let offsets = find(&all, "__consumer_offsets");
    assert_eq!((replicas(offsets), offsets.min_in_sync), ([3].into(), 2), "{offsets:?}");

    let history = load.stop().await.unwrap();
    let logs = read_back(&spec.access(), &history.run).await.unwrap();
    let report = judge(&history, &logs);
    assert!(report.is_clean() && report.whole, "{report}");
    cluster.castellan.purge().await;
}

fn find<'a>(all: &'a [TopicReplication], name: &str) -> &'a TopicReplication {
    all.iter().find(|topic| topic.name == name).unwrap()
}

fn replicas(topic: &TopicReplication) -> BTreeSet<usize> {
    topic.partitions.iter().map(|it| it.replicas.len()).collect()
}

/// It is acknowledged whatever the cluster's min ISR is.
async fn write_a_message(cluster: &Cluster) {
    let path = format!("{}/topics/{PLAIN}/messages", cluster.path());
    let (status, written) = cluster.castellan.post(&path, &json!({ "value": "one" })).await;
    assert!((200..300).contains(&status), "{status}: {written}");
}
