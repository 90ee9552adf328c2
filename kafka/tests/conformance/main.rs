//! One list of checks on the simulated cluster and on a real one of three
//! servers: what the simulation says of Kafka is what Kafka does.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod attackers;
mod checks;
mod eligible;
mod groups;
mod growing;
mod member;
mod messages;
mod moving;
mod real;
mod resources;
mod simulated;
mod subject;
mod two_voters;
mod under_attack;
mod voting;

use kafka::versions;
use real::RealCluster;
use simulated::Simulated;

#[tokio::test]
async fn the_simulated_cluster_does_what_kafka_does() {
    for seed in 0..50 {
        checks::all(&Simulated::new(seed, seed % 2 == 0)).await;
    }
}

/// The newest release, and with `CASTELLAN_TEST_ALL` the oldest too.
#[tokio::test]
async fn kafka_does_what_the_simulated_cluster_does() {
    let releases = versions::all();
    let every = std::env::var_os("CASTELLAN_TEST_ALL").is_some();
    let oldest = every.then(|| &releases[0]);
    for release in oldest.into_iter().chain(releases.last()) {
        let cluster = RealCluster::new(release.version).await;
        checks::all(&cluster).await;
        under_attack::writes_go_on(&cluster).await;
        cluster.end().await;
    }
}
