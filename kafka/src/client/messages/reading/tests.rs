use super::*;
use bytes::{Bytes, BytesMut};
use indexmap::IndexMap;
use kafka_protocol::records::{
    Compression, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};

/// A batch of records, a transaction's if it has a producer.
fn batch(first: i64, values: &[&'static str], producer: Option<i64>, mark: bool) -> Bytes {
    let record = |(offset, value): (i64, &&'static str)| Record {
        transactional: producer.is_some(),
        control: mark,
        delete_horizon: false,
        partition_leader_epoch: 0,
        producer_id: producer.unwrap_or(-1),
        producer_epoch: 0,
        timestamp_type: TimestampType::Creation,
        offset,
        sequence: i32::try_from(offset).unwrap(),
        timestamp: offset,
        key: None,
        value: Some(Bytes::from_static(value.as_bytes())),
        headers: IndexMap::default(),
    };
    let records: Vec<Record> = (first..).zip(values).map(record).collect();
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    let mut bytes = BytesMut::new();
    RecordBatchEncoder::encode(&mut bytes, &records, &options).unwrap();
    bytes.freeze()
}

fn fetched(batches: &[Bytes], aborted: &[(i64, i64)]) -> Fetched {
    let records = Some(batches.concat().into());
    Fetched { partition: 0, records, aborted: aborted.to_vec() }
}

fn wanted(count: usize, newest: bool) -> Wanted {
    Wanted { count, bytes: 100, newest }
}

fn reading(wanted: Wanted, from: i64, end: i64) -> Reading {
    Reading::new(TopicPartition::new("t", 0), wanted, 0, from, end)
}

fn values(reading: Reading) -> String {
    let text = |message: Message| match (message.value, message.omitted) {
        (Some(value), None) => String::from_utf8(value.to_vec()).unwrap(),
        (None, Some(size)) => format!("({size})"),
        other => panic!("{other:?}"),
    };
    reading.finish().map(text).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_first_so_many_from_an_offset_on() {
    let log = [batch(0, &["a", "b", "c"], None, false), batch(3, &["d", "e"], None, false)];
    let check = |count, from, expected: &str| {
        let mut reading = reading(wanted(count, false), from, 5);
        assert!(reading.take(fetched(&log, &[])).unwrap());
        assert_eq!(reading.next(), None);
        assert_eq!(values(reading), expected);
    };
    check(9, 0, "a b c d e");
    check(2, 0, "a b");
    check(2, 1, "b c");
    check(3, 1, "b c d");
    check(9, 4, "e");
}

#[test]
fn nothing_beyond_the_end_is_told_and_nothing_is_asked_there() {
    assert_eq!(reading(wanted(9, false), 5, 5).next(), None);
    assert_eq!(reading(wanted(9, false), 7, 5).next(), None);
    let mut reading = reading(wanted(9, false), 0, 2);
    reading.take(fetched(&[batch(0, &["a", "b", "c"], None, false)], &[])).unwrap();
    assert_eq!(values(reading), "a b");
}

#[test]
fn the_newest_are_looked_for_further_back_if_offsets_have_gaps() {
    // Marks and compaction have left 0, 1 and 9 of ten.
    let sparse = [batch(0, &["a", "b"], None, false), batch(9, &["j"], None, false)];
    let mut reading = reading(wanted(2, true), 0, 10);
    assert_eq!(reading.next(), Some(8));
    reading.take(fetched(&sparse[1..], &[])).unwrap();
    assert_eq!(reading.next(), Some(0), "one is too few");
    reading.take(fetched(&sparse, &[])).unwrap();
    assert_eq!(reading.next(), None);
    assert_eq!(values(reading), "b j");
}

#[test]
fn a_second_look_that_is_not_finished_takes_nothing_away() {
    let sparse = [batch(0, &["a"], None, false), batch(9, &["j"], None, false)];
    let mut reading = reading(wanted(2, true), 0, 10);
    reading.take(fetched(&sparse[1..], &[])).unwrap();
    reading.take(fetched(&sparse[..1], &[])).unwrap();
    assert_eq!(values(reading), "j");
}

#[test]
fn what_was_given_up_is_not_told() {
    let log = [
        batch(0, &["a"], Some(7), false),
        batch(1, &["b"], Some(8), false),
        batch(2, &["c"], None, false),
        batch(3, &["mark"], Some(7), true),
        batch(4, &["d"], Some(7), false),
        batch(5, &["mark"], Some(7), true),
        batch(6, &["mark"], Some(8), true),
    ];
    let mut first = reading(wanted(9, false), 0, 7);
    first.take(fetched(&log, &[(0, 7)])).unwrap();
    assert_eq!(values(first), "b c d");
    let mut second = reading(wanted(9, false), 0, 7);
    second.take(fetched(&log, &[(1, 8), (4, 7)])).unwrap();
    assert_eq!(values(second), "a c");
}

#[test]
fn bytes_are_bounded_and_what_is_too_large_is_named() {
    let large = "x".repeat(101).leak();
    let half = "y".repeat(60).leak();
    let check = |newest, values_in: &[&'static str], expected: &str| {
        let end = i64::try_from(values_in.len()).unwrap();
        let mut reading = reading(wanted(9, newest), 0, end);
        reading.take(fetched(&[batch(0, values_in, None, false)], &[])).unwrap();
        assert_eq!(values(reading), expected);
    };
    check(false, &["a", large, "b"], "a (101) b");
    check(false, &[half, half, "b"], half);
    check(true, &["a", half, half], half);
}

#[test]
fn a_log_that_was_cut_meanwhile_ends_the_reading() {
    let mut reading = reading(wanted(9, false), 0, 7);
    assert!(reading.take(Fetched { partition: 0, records: None, aborted: vec![] }).unwrap());
    assert_eq!(reading.next(), None);
}

#[test]
fn partitions_are_merged_by_time() {
    let message = |partition: i32, timestamp: i64, value: &'static str| Message {
        at: TopicPartition::new("t", partition),
        offset: 0,
        timestamp,
        key: None,
        value: Some(Bytes::from_static(value.as_bytes())),
        headers: vec![],
        omitted: None,
    };
    let all =
        || vec![message(0, 5, "b"), message(1, 3, "a"), message(0, 9, "d"), message(1, 7, "cc")];
    let check = |count, bytes, newest, expected: &[&str]| {
        let merged = merge(all(), count, bytes, newest);
        let values: Vec<_> = merged.iter().map(|it| it.value.clone().unwrap()).collect();
        assert_eq!(values, expected, "{count} {bytes} {newest}");
    };
    check(9, 99, false, &["a", "b", "cc", "d"]);
    check(2, 99, false, &["a", "b"]);
    check(2, 99, true, &["cc", "d"]);
    check(9, 3, false, &["a", "b"]);
    check(9, 3, true, &["cc", "d"]);
}
