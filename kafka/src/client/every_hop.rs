//! Every way through several brokers, held against clusters in which one of them, or
//! each, answers badly.
//!
//! What one call sends and takes is held in `every_call`. Here is what is made of several
//! calls to several brokers. Whatever any of them replies at any hop, the whole ends in
//! time, in an answer or in an error that says what went wrong and where; and what may
//! not be done twice is asked for once.

mod brokers;
mod good;
mod ill_will;
mod kept;
mod lies;
mod ways;

use super::{Error, Groups};
use brokers::{Fake, IDS, LONG, host};
use good::good;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use ways::Way;

/// More than all deadlines on any way together, in every test of this module.
const IN_TIME: Duration = Duration::from_secs(8);
/// More requests than any way needs.
const MOST_ASKED: usize = 64;

struct Ended {
    told: Result<String, Error>,
    asked: Vec<String>,
    took: Duration,
}

type Running = Vec<(String, JoinHandle<Ended>)>;

async fn run(way: Way, fake: Fake) -> Ended {
    let since = Instant::now();
    let told = way(&fake).await;
    Ended { told, asked: fake.asked(), took: since.elapsed() }
}

/// Waits until all have ended as they must: in time, without a panic, with an error that
/// tells, after a few requests, and with no message written twice.
async fn end(name: &str, running: Running) {
    for (which, running) in running {
        let which = format!("{name} on {which}");
        let ended = timeout(4 * IN_TIME, running).await;
        let ended = ended.unwrap_or_else(|_| panic!("{which} hangs"));
        let Ended { told, asked, took } = ended.unwrap_or_else(|_| panic!("{which} panics"));
        assert!(took < IN_TIME, "{which} takes {took:?}: {told:?}");
        assert!(asked.len() <= MOST_ASKED, "{which} asks {asked:?}");
        for id in IDS {
            let write = format!("{} Produce", host(id));
            let times = asked.iter().filter(|asked| **asked == write).count();
            assert!(times <= 1, "{which} writes {times} times");
        }
        if let Err(error) = told {
            assert!(says_what_and_who(&error), "{which}: {error:?}");
        }
    }
}

fn says_what_and_who(error: &Error) -> bool {
    let text = error.to_string();
    match error {
        Error::AllFailed { last, .. } | Error::Incomplete { last, .. } => says_what_and_who(last),
        Error::Kafka { call, subject, .. } => {
            text.contains(&format!("{call} for {subject}")) && !call.is_empty()
        }
        Error::Leaderless { partitions, count } => *count > 0 && text.contains(partitions),
        Error::Unreachable { endpoint, .. } | Error::Tls { endpoint, .. } => {
            text.contains(&endpoint.to_string())
        }
        // A panic while messages are unpacked is told as if it were their fault.
        Error::Malformed { reason, .. } if reason.starts_with("unpacking it failed") => false,
        Error::Broken { endpoint, call, .. }
        | Error::Deadline { endpoint, call, .. }
        | Error::Malformed { endpoint, call, .. }
        | Error::Oversize { endpoint, call, .. }
        | Error::Unsupported { endpoint, call, .. } => {
            text.contains(&endpoint.to_string()) && text.contains(call)
        }
        // The others are of no broker, or of none that is asked here.
        _ => false,
    }
}

/// What each broker was asked, in order, and what came of it.
async fn well(way: Way, expected: [&str; 3], told: &str) {
    let fake = Fake::known(LONG, |hop, asked| good(hop.broker, asked)).await;
    let answer = way(&fake).await.unwrap();
    assert!(answer.contains(told), "{answer}");
    let asked = fake.asked();
    let of = |id: i32| {
        let calls = asked.iter().filter_map(|it| it.strip_prefix(&format!("{} ", host(id))));
        calls.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(IDS.map(of), expected);
    assert!(fake.dialled().is_empty(), "every connection is used again");
}

#[tokio::test]
async fn each_broker_is_asked_for_what_is_its_own() {
    let led = "ListOffsets";
    let read = "ListOffsets ListOffsets Fetch";
    well(
        ways::list_groups,
        [
            "Metadata ListGroups Metadata ListOffsets",
            "ListGroups DescribeGroups OffsetFetch ListOffsets",
            "ListGroups ConsumerGroupDescribe OffsetFetch ListOffsets",
        ],
        "audit",
    )
    .await;
    well(
        ways::describe_group,
        [
            "FindCoordinator Metadata ListOffsets",
            "ConsumerGroupDescribe DescribeGroups OffsetFetch ListOffsets",
            led,
        ],
        "billing",
    )
    .await;
    well(ways::delete_group, ["FindCoordinator", "DeleteGroups", ""], "true").await;
    well(
        ways::reset_group,
        [
            "Metadata ListOffsets Metadata ListOffsets FindCoordinator",
            "ListOffsets ListOffsets OffsetCommit",
            "ListOffsets ListOffsets",
        ],
        "()",
    )
    .await;
    well(ways::find_offsets, ["Metadata ListOffsets", led, led], "partition: 2 }: Some(2)").await;
    well(ways::find_partitions, ["Metadata", "", ""], "[0, 1, 2]").await;
    let all = "Some([(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)])";
    let reading = format!("Metadata {read}");
    well(ways::read_first, [&reading, read, read], all).await;
    well(ways::read_newest, [&reading, read, read], all).await;
    let written = "Some([(0, Ok(2)), (1, Ok(2)), (2, Ok(2))])";
    well(ways::write, ["Metadata Produce", "Produce", "Produce"], written).await;
    well(ways::describe_log_dirs, ["DescribeLogDirs", "", ""], "/data").await;
}

#[tokio::test]
async fn lag_is_that_of_all_leaders() {
    let fake = Fake::known(LONG, |hop, asked| good(hop.broker, asked)).await;
    let groups = fake.admin.list_groups(&fake.cluster).await.unwrap();
    let lags: Vec<_> = groups.iter().map(|it| (it.view.name.as_str(), it.lag())).collect();
    assert_eq!(lags, [("audit", Some(3)), ("billing", Some(3))]);
}
