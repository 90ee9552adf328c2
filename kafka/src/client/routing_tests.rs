//! Operations that need several brokers: which broker is asked for what, what comes of it
//! when metadata is out of date or a broker is missing, and which connections are kept.

mod brokers;
mod operations;
mod pool;
mod replies;
mod stale_metadata;

use super::Groups;
use brokers::{Fake, IDS, LONG, host};
use operations::Operation;
use replies::correct_reply;

/// What each broker was asked, in order, and what came of it.
async fn check(operation: Operation, expected: [&str; 3], outcome: &str) {
    let fake = Fake::connected(LONG, |hop, asked| correct_reply(hop.broker, asked)).await;
    let answer = operation(&fake).await.unwrap();
    assert!(answer.contains(outcome), "{answer}");
    let asked = fake.asked();
    let calls_to = |id: i32| {
        let calls = asked.iter().filter_map(|it| it.strip_prefix(&format!("{} ", host(id))));
        calls.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(IDS.map(calls_to), expected);
    assert!(fake.dialled().is_empty(), "every connection is used again");
}

#[tokio::test]
async fn each_broker_is_asked_for_what_is_its_own() {
    let led = "ListOffsets";
    let read = "ListOffsets ListOffsets Fetch";
    check(
        operations::list_groups,
        [
            "Metadata ListGroups Metadata ListOffsets",
            "ListGroups DescribeGroups OffsetFetch ListOffsets",
            "ListGroups ConsumerGroupDescribe OffsetFetch ListOffsets",
        ],
        "audit",
    )
    .await;
    check(
        operations::describe_group,
        [
            "FindCoordinator Metadata ListOffsets",
            "ConsumerGroupDescribe DescribeGroups OffsetFetch ListOffsets",
            led,
        ],
        "billing",
    )
    .await;
    check(operations::delete_group, ["FindCoordinator", "DeleteGroups", ""], "true").await;
    check(
        operations::reset_group,
        [
            "Metadata ListOffsets Metadata ListOffsets FindCoordinator",
            "ListOffsets ListOffsets OffsetCommit",
            "ListOffsets ListOffsets",
        ],
        "()",
    )
    .await;
    check(operations::find_offsets, ["Metadata ListOffsets", led, led], "partition: 2 }: Some(2)")
        .await;
    check(operations::find_partitions, ["Metadata", "", ""], "[0, 1, 2]").await;
    let all = "Some([(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)])";
    let reading = format!("Metadata {read}");
    check(operations::read_first, [&reading, read, read], all).await;
    check(operations::read_newest, [&reading, read, read], all).await;
    let written = "Some([(0, Ok(2)), (1, Ok(2)), (2, Ok(2))])";
    check(operations::write, ["Metadata Produce", "Produce", "Produce"], written).await;
    check(operations::describe_log_dirs, ["DescribeLogDirs", "", ""], "/data").await;
}

#[tokio::test]
async fn lag_is_that_of_all_leaders() {
    let fake = Fake::connected(LONG, |hop, asked| correct_reply(hop.broker, asked)).await;
    let groups = fake.admin.list_groups(&fake.cluster).await.unwrap();
    let lags: Vec<_> = groups.iter().map(|it| (it.view.name.as_str(), it.lag())).collect();
    assert_eq!(lags, [("audit", Some(3)), ("billing", Some(3))]);
}
