//! Every supported release starts with what we render for it, and logs.

mod support;

use support::{Authority, Broker};

#[tokio::test]
async fn every_release_starts_and_logs() {
    for release in kafka::versions::all() {
        let broker = Broker::start(release.version, &Authority::new(), false).await;
        let line = format!("Kafka version: {}", release.version);
        broker
            .until("it logs its version", || broker.read("logs/server.log").contains(&line))
            .await;
        assert_eq!(broker.read("logs/output"), "", "nothing but failures is printed");
        assert_eq!(broker.stop().await, "exit status: 143");
    }
}
