use super::*;
use bytes::{Bytes, BytesMut};
use indexmap::IndexMap;
use kafka_protocol::records::{
    Compression, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use std::io::Write as _;
use std::time::Duration;
use tokio::time::Instant;

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

/// The same batch, packed by gzip.
fn packed(batch: &Bytes) -> Bytes {
    const HEAD: usize = 61;
    let head = batch[..HEAD].to_vec();
    let mut encoder = flate2::write::GzEncoder::new(head, flate2::Compression::fast());
    encoder.write_all(&batch[HEAD..]).unwrap();
    let mut bytes = encoder.finish().unwrap();
    bytes[22] |= 1;
    let length = i32::try_from(bytes.len() - 12).unwrap();
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    let sum = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&sum.to_be_bytes());
    bytes.into()
}

/// A budget of so many bytes, and of all the time in the world.
fn budget(most: usize) -> Budget {
    Budget::new(Instant::now() + Duration::from_hours(1), most)
}

fn plenty() -> Budget {
    budget(usize::MAX)
}

fn fetched(batches: &[Bytes], aborted: &[(i64, i64)]) -> Fetched {
    let records = Some(batches.concat().into());
    Fetched { partition: 0, records, aborted: aborted.to_vec() }
}

fn wanted(count: usize, newest: bool) -> Wanted {
    Wanted { count, bytes: 100, newest, unpacked: usize::MAX }
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
        assert!(reading.take(fetched(&log, &[]), &plenty()).unwrap());
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
    reading.take(fetched(&[batch(0, &["a", "b", "c"], None, false)], &[]), &plenty()).unwrap();
    assert_eq!(values(reading), "a b");
}

#[test]
fn the_newest_are_looked_for_further_back_if_offsets_have_gaps() {
    // Marks and compaction have left 0, 1 and 9 of ten.
    let sparse = [batch(0, &["a", "b"], None, false), batch(9, &["j"], None, false)];
    let mut reading = reading(wanted(2, true), 0, 10);
    assert_eq!(reading.next(), Some(8));
    reading.take(fetched(&sparse[1..], &[]), &plenty()).unwrap();
    assert_eq!(reading.next(), Some(0), "one is too few");
    reading.take(fetched(&sparse, &[]), &plenty()).unwrap();
    assert_eq!(reading.next(), None);
    assert_eq!(values(reading), "b j");
}

#[test]
fn a_second_look_that_is_not_finished_takes_nothing_away() {
    let sparse = [batch(0, &["a"], None, false), batch(9, &["j"], None, false)];
    let mut reading = reading(wanted(2, true), 0, 10);
    reading.take(fetched(&sparse[1..], &[]), &plenty()).unwrap();
    reading.take(fetched(&sparse[..1], &[]), &plenty()).unwrap();
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
    first.take(fetched(&log, &[(0, 7)]), &plenty()).unwrap();
    assert_eq!(values(first), "b c d");
    let mut second = reading(wanted(9, false), 0, 7);
    second.take(fetched(&log, &[(1, 8), (4, 7)]), &plenty()).unwrap();
    assert_eq!(values(second), "a c");
}

#[test]
fn bytes_are_bounded_and_what_is_too_large_is_named() {
    let large = "x".repeat(101).leak();
    let half = "y".repeat(60).leak();
    let check = |newest, values_in: &[&'static str], expected: &str| {
        let end = i64::try_from(values_in.len()).unwrap();
        let mut reading = reading(wanted(9, newest), 0, end);
        reading.take(fetched(&[batch(0, values_in, None, false)], &[]), &plenty()).unwrap();
        assert_eq!(values(reading), expected);
    };
    check(false, &["a", large, "b"], "a (101) b");
    check(false, &[half, half, "b"], half);
    check(true, &["a", half, half], half);
}

#[test]
fn what_is_told_does_not_hold_the_rest_in_memory() {
    for newest in [false, true] {
        let log = batch(0, &["a", "b"], None, false);
        let mut reading = reading(wanted(9, newest), 0, 2);
        let fetched = Fetched { partition: 0, records: Some(log.clone()), aborted: vec![] };
        reading.take(fetched, &plenty()).unwrap();
        assert!(log.is_unique(), "a part of what was fetched is in use");
        assert_eq!(values(reading), "a b");
    }
}

/// Six batches of a kilobyte and a byte each, which are far smaller while they are
/// packed.
fn dear() -> Vec<Bytes> {
    let large: &'static str = "x".repeat(1000).leak();
    (0..6).map(|number| packed(&batch(2 * number, &[large, "b"], None, false))).collect()
}

fn offsets(reading: Reading) -> Vec<i64> {
    reading.finish().map(|message| message.offset).collect()
}

/// One pass may unpack a batch and a half.
fn sparing(count: usize, newest: bool) -> Reading {
    reading(Wanted { unpacked: 1500, ..wanted(count, newest) }, 0, 12)
}

#[test]
fn the_first_ones_end_where_they_cost_too_much() {
    let mut reading = sparing(99, false);
    assert!(reading.take(fetched(&dear(), &[]), &plenty()).unwrap());
    assert_eq!(reading.next(), None);
    assert!(reading.short);
    assert_eq!(offsets(reading), [0, 1, 2, 3], "whoever goes on begins with 4");
}

#[test]
fn the_newest_are_fewer_where_they_cost_too_much_but_the_newest() {
    let log = dear();
    let mut reading = sparing(9, true);
    assert_eq!(reading.next(), Some(3));
    assert!(reading.take(fetched(&log[1..], &[]), &plenty()).unwrap());
    assert_eq!(reading.next(), Some(11), "it begins once more, later");
    assert!(reading.take(fetched(&log[5..], &[]), &plenty()).unwrap());
    assert_eq!(reading.next(), None);
    assert_eq!(offsets(reading), [11]);
}

#[test]
fn what_was_found_stays_if_a_look_further_back_costs_too_much() {
    let log = dear();
    let mut reading = sparing(1, true);
    reading.wanted.count = 9;
    assert_eq!(reading.next(), Some(11));
    reading.take(fetched(&log[5..], &[]), &plenty()).unwrap();
    assert_eq!(reading.next(), Some(4), "one is too few");
    reading.take(fetched(&log[2..], &[]), &plenty()).unwrap();
    assert_eq!(reading.next(), None);
    assert_eq!(offsets(reading), [11]);
}

#[test]
fn nothing_is_unpacked_once_the_budget_is_spent() {
    let check = |budget: &Budget, newest, expected: &[i64]| {
        let mut reading = reading(wanted(99, newest), 0, 12);
        reading.take(fetched(&dear(), &[]), budget).unwrap();
        assert!(budget.is_spent());
        reading.cut();
        assert!(reading.short, "there is more");
        assert_eq!(offsets(reading), expected);
    };
    let late = Budget::new(Instant::now(), usize::MAX);
    check(&late, false, &[]);
    check(&late, true, &[]);
    check(&budget(1000), false, &[0, 1]);
    check(&budget(2000), false, &[0, 1, 2, 3]);
    // The first ones of the last ones are not the newest.
    check(&budget(2000), true, &[]);
}

#[test]
fn headers_without_contents_take_room_too() {
    let headers = vec![(Bytes::new(), None); 2];
    let record =
        RawRecord { offset: 0, timestamp: 0, key: None, value: None, headers: None, size: 7 };
    let of =
        |headers| message(TopicPartition::new("t", 0), RawRecord { headers, ..record.clone() });
    assert_eq!(of(Some(headers.clone())).within(100).omitted, Some(128));
    assert_eq!(of(Some(headers)).within(128).omitted, None);
    assert_eq!(of(None).within(100).omitted, Some(7), "they are too many");
}

#[test]
fn a_log_that_was_cut_meanwhile_ends_the_reading() {
    let mut reading = reading(wanted(9, false), 0, 7);
    assert!(
        reading.take(Fetched { partition: 0, records: None, aborted: vec![] }, &plenty()).unwrap()
    );
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
