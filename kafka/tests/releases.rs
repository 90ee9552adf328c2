//! Supported releases start with what we render for them, and log: the oldest
//! and the newest, or all of them with `CASTELLAN_TEST_ALL`.

mod support;

use support::{Authority, Broker};

#[tokio::test]
async fn releases_start_and_log() {
    let all = kafka::versions::all();
    let every = std::env::var_os("CASTELLAN_TEST_ALL").is_some();
    let ends = [all[0], all[all.len() - 1]];
    for release in if every { all } else { &ends } {
        let broker = Broker::start(release.version, &Authority::new(), false).await;
        let line = format!("Kafka version: {}", release.version);
        broker
            .until("it logs its version", || broker.read("logs/server.log").contains(&line))
            .await;
        assert_eq!(broker.read("logs/output"), "", "nothing but failures is printed");
        assert_eq!(broker.stop().await, "exit status: 143");
    }
}
