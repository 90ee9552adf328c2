use super::*;
use crate::client::admin::text;
use crate::client::fake::{answer, connect_within};
use crate::client::{Limits, PartitionView, Setting, SettingKind};
use kafka_protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use kafka_protocol::messages::describe_configs_response::DescribeConfigsResult;
use kafka_protocol::messages::metadata_response::{
    MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{
    ApiKey, CreatePartitionsResponse, DescribeConfigsRequest, DescribeConfigsResponse,
    MetadataRequest, MetadataResponse,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A topic with these leaders and settings.
fn topic(leaders: &[Option<i32>], settings: &[(&str, &str, SettingKind)]) -> Topic {
    let partition = |(index, leader): (i32, &Option<i32>)| PartitionView {
        index,
        leader: *leader,
        replicas: vec![1],
        in_sync: vec![1],
    };
    let setting = |(name, value, kind): &(&str, &str, SettingKind)| Setting {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
        kind: *kind,
    };
    Topic {
        name: "orders".into(),
        partitions: (0..).zip(leaders).map(partition).collect(),
        settings: settings.iter().map(setting).collect(),
    }
}

fn change(partitions: Option<i32>, settings: Option<&[(&str, &str)]>) -> TopicChange {
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let settings = settings.map(|it| it.iter().map(text).collect::<BTreeMap<_, _>>());
    TopicChange { partitions, settings }
}

const NUMBER: SettingKind = SettingKind::Number;
const TEXT: SettingKind = SettingKind::Text;

#[test]
fn what_is_spelled_differently_is_no_change() {
    let is = topic(
        &[Some(1)],
        &[
            ("cleanup.policy", "compact,delete", TEXT),
            ("min.cleanable.dirty.ratio", "1.0", NUMBER),
            ("retention.ms", "60000", NUMBER),
        ],
    );
    let asked = change(
        Some(1),
        Some(&[
            ("cleanup.policy", "compact, delete"),
            ("min.cleanable.dirty.ratio", "1"),
            ("retention.ms", "0060000"),
        ]),
    );
    let call = ChangeTopic { name: "orders", change: &asked };
    assert_eq!(call.changes(&is), Changes::new());
    assert_eq!(call.grow(&is), None);
    let other = change(None, Some(&[("cleanup.policy", "compact"), ("retention.ms", "60000")]));
    let call = ChangeTopic { name: "orders", change: &other };
    let policy = ("cleanup.policy".to_owned(), Some("compact".to_owned()));
    let ratio = ("min.cleanable.dirty.ratio".to_owned(), None);
    assert_eq!(call.changes(&is), Changes::from([policy, ratio]));
}

fn check(change: &TopicChange, before: &Topic, now: &Topic, expected: bool) {
    let call = ChangeTopic { name: "orders", change };
    let (settings, grow) = (call.changes(before), call.grow(before));
    let shows = Shows { before, settings: &settings, grow };
    assert_eq!(shows.is_shown_by(now), expected, "{change:?}, and then {now:?}");
}

#[test]
fn settings_show_in_any_spelling() {
    let before = topic(&[Some(1)], &[("retention.ms", "5", NUMBER)]);
    let asked = change(None, Some(&[("min.cleanable.dirty.ratio", "1"), ("retention.ms", "007")]));
    let now = |settings: &[(&str, &str, SettingKind)], expected| {
        check(&asked, &before, &topic(&[None], settings), expected);
    };
    let ratio = ("min.cleanable.dirty.ratio", "1.0", NUMBER);
    now(&[("retention.ms", "5", NUMBER)], false);
    now(&[ratio, ("retention.ms", "5", NUMBER)], false);
    now(&[("retention.ms", "7", NUMBER)], false);
    now(&[ratio, ("retention.ms", "7", NUMBER)], true);
    now(&[ratio, ("retention.ms", "0x7", NUMBER)], true);
    now(&[ratio, ("retention.ms", "7", NUMBER), ("segment.ms", "1", NUMBER)], true);
    let none = change(None, Some(&[]));
    check(&none, &before, &before, false);
    check(&none, &before, &topic(&[Some(1)], &[]), true);
}

#[test]
fn only_new_partitions_are_waited_for() {
    let before = topic(&[None, Some(1)], &[]);
    let now = |wanted, leaders: &[Option<i32>], expected| {
        check(&change(Some(wanted), None), &before, &topic(leaders, &[]), expected);
    };
    now(2, &[None, Some(1)], true);
    now(3, &[None, Some(1)], false);
    now(3, &[None, Some(1), None], false);
    now(3, &[None, Some(1), Some(2)], true);
    now(3, &[None, Some(1), Some(2), Some(3)], true);
}

/// What is done by a broker that refuses to make partitions and lists so many of them, one
/// number after another, if this many are wanted; and what it was asked.
async fn on_one_that_lists(
    counts: &'static [i32],
    wanted: i32,
) -> (Result<bool, Error>, Vec<ApiKey>) {
    on_one_within(Limits::default(), counts, wanted).await
}

async fn on_one_within(
    limits: Limits,
    counts: &'static [i32],
    wanted: i32,
) -> (Result<bool, Error>, Vec<ApiKey>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let mut counts = counts.iter().copied().chain(counts.last().copied().into_iter().cycle());
    let mut connection = connect_within(limits, CALLS, move |asked| {
        let key = ApiKey::try_from(asked.key).unwrap();
        seen.lock().unwrap().push(key);
        match key {
            ApiKey::Metadata => {
                answer::<MetadataRequest>(asked, &listed_with(counts.next().unwrap()))
            }
            ApiKey::DescribeConfigs => answer::<DescribeConfigsRequest>(asked, &unset()),
            _ => answer::<CreatePartitionsRequest>(asked, &refused()),
        }
    })
    .await;
    let asked_for = change(Some(wanted), None);
    let done = ChangeTopic { name: "orders", change: &asked_for }.run(&mut connection).await;
    drop(connection);
    let asked = asked.lock().unwrap().clone();
    (done, asked)
}

const CALLS: &[(ApiKey, i16, i16)] =
    &[(ApiKey::Metadata, 0, 12), (ApiKey::DescribeConfigs, 0, 4), (ApiKey::CreatePartitions, 0, 3)];

fn listed_with(partitions: i32) -> MetadataResponse {
    let partition = |index| {
        MetadataResponsePartition::default().with_partition_index(index).with_leader_id(1.into())
    };
    let topic = MetadataResponseTopic::default()
        .with_name(Some(topic_name("orders")))
        .with_partitions((0..partitions).map(partition).collect());
    MetadataResponse::default().with_topics(vec![topic])
}

fn unset() -> DescribeConfigsResponse {
    let result = DescribeConfigsResult::default().with_resource_name(text("orders"));
    DescribeConfigsResponse::default().with_results(vec![result])
}

/// What Kafka says of as many as there are, or fewer.
fn refused() -> CreatePartitionsResponse {
    let result = CreatePartitionsTopicResult::default()
        .with_name(topic_name("orders"))
        .with_error_code(InvalidPartitions.code());
    CreatePartitionsResponse::default().with_results(vec![result])
}

#[tokio::test]
async fn what_another_broker_did_is_waited_for_and_not_refused() {
    for counts in [&[2, 2, 5][..], &[2, 3, 5]] {
        let (done, asked) = on_one_that_lists(counts, 5).await;
        assert_eq!(done, Ok(true), "{counts:?}");
        let tries = asked.iter().filter(|it| **it == ApiKey::CreatePartitions).count();
        assert_eq!(tries, 1, "{counts:?}: {asked:?}");
    }
}

#[tokio::test]
async fn fewer_than_there_are_is_refused_at_once() {
    let (done, asked) = on_one_that_lists(&[3], 2).await;
    assert!(matches!(done, Err(Error::Kafka { .. })), "{done:?}");
    assert_eq!(asked.last(), Some(&ApiKey::CreatePartitions), "{asked:?}");
}

/// Somebody made more of them at the same moment.
#[tokio::test]
async fn fewer_than_another_made_is_refused_once_that_is_read() {
    let (done, asked) = on_one_that_lists(&[2, 2, 9], 5).await;
    assert!(matches!(done, Err(Error::Kafka { .. })), "{done:?}");
    let tries = asked.iter().filter(|it| **it == ApiKey::CreatePartitions).count();
    assert_eq!(tries, 2, "{asked:?}");
}

/// Nothing of the change was made, so that it is tried again and not taken for made.
#[tokio::test]
async fn a_broker_that_does_not_read_what_another_made_is_stale() {
    let limits = Limits { readable: Duration::from_millis(100), ..Limits::default() };
    let (done, asked) = on_one_within(limits, &[2], 5).await;
    assert!(matches!(done, Err(Error::Stale { .. })), "{done:?}");
    let tries = asked.iter().filter(|it| **it == ApiKey::CreatePartitions).count();
    assert_eq!(tries, 1);
}
