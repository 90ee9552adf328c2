//! A broker in a JVM that was warmed up is the broker that a cold one is: nothing of the
//! rehearsal is left in it. The newest release, and with `CASTELLAN_TEST_ALL` the oldest.

#![allow(clippy::unwrap_used, reason = "it is a test")]

mod portrait;

use kafka::versions;
use portrait::Portrait;
use test_support::broker::{Authority, Broker};

#[tokio::test]
async fn a_warmed_broker_is_like_a_cold_one() {
    let all = versions::all();
    let newest = &all[all.len() - 1];
    let every = std::env::var_os("CASTELLAN_TEST_ALL").is_some();
    for release in if every { vec![newest, &all[0]] } else { vec![newest] } {
        let authority = Authority::new();
        let cold = Broker::start(release.version, &authority, true).await;
        let expected = Portrait::of(&cold).await;
        assert_eq!(cold.stop().await, "exit status: 143");

        let (warm, rehearsed) = Broker::start_warm(release.version, &authority).await;
        let found = Portrait::of(&warm).await;
        found.assert_like(&expected);
        let mut traces = vec![rehearsed.directory.to_string_lossy().into_owned()];
        traces.push("127.63.255.1".into());
        traces.extend(rehearsed.ids.iter().cloned());
        found.assert_free_of(&traces);
        assert!(!rehearsed.directory.exists());
        assert_eq!(warm.read("logs/output"), "", "nothing but failures is printed");
        assert!(warm.read("disk/FORMATTED").contains("cluster.id="));
        assert_eq!(warm.stop().await, "exit status: 143");
    }
}
