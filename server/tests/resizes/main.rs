//! A real cluster grows and shrinks while clients of every kind write and read: nothing
//! acknowledged is lost, doubled or reordered, no send fails, and the consumer group keeps its
//! offsets. Each test has a cluster of its own.
//!
//! `make test` takes the short way, 1 → 3 → 1; with `CASTELLAN_TEST_ALL` the way goes by five
//! servers, with the oldest release too.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod cluster;
mod full;
mod seen;
mod single;
mod terraform;
mod unlucky;

use checker::{Load, judge, read_back};
use cluster::Cluster;
use kafka::versions::Release;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(2);
/// For one change of the number of servers.
const LONGEST: Duration = Duration::from_mins(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_grows_and_shrinks_under_load() {
    let [.., newest] = kafka::versions::all() else { panic!("there are several") };
    let long = std::env::var_os("CASTELLAN_TEST_ALL").is_some();
    let sizes: &[u32] = if long { &[3, 5, 3, 1] } else { &[3, 1] };
    grows_and_shrinks(newest, sizes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_of_the_oldest_release_grows_and_shrinks() {
    let [oldest, ..] = kafka::versions::all() else { panic!("there are several") };
    grows_and_shrinks(oldest, &[3, 5, 3, 1]).await;
}

async fn grows_and_shrinks(release: &Release, sizes: &[u32]) {
    let cluster = Cluster::create(release, 1).await;
    let spec = cluster.load();
    let load = Load::start(&spec).await.unwrap();
    load.goes_on(50, PATIENCE).await.unwrap();
    for servers in sizes {
        let began = Instant::now();
        cluster.resize_to(*servers).await;
        cluster.is_of(*servers).await;
        load.goes_on(50, PATIENCE).await.unwrap();
        eprintln!("Kafka {}: {servers} servers after {:?}", release.version, began.elapsed());
    }
    let history = load.stop().await.unwrap();
    let logs = read_back(&spec.access(), &history.run).await.unwrap();
    let report = judge(&history, &logs);
    assert!(report.is_clean() && report.whole, "{report}");
    eprintln!("{report}");
    cluster.castellan.purge().await;
}
