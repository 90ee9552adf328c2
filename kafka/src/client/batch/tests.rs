use super::*;
use bytes::{BufMut, BytesMut};
use indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{Record, RecordBatchEncoder, RecordEncodeOptions};

fn record(offset: i64, value: &'static str) -> Record {
    Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: 0,
        producer_id: 7,
        producer_epoch: 3,
        timestamp_type: TimestampType::Creation,
        offset,
        sequence: i32::try_from(offset).unwrap(),
        timestamp: 1_000 + offset,
        key: (offset % 2 == 0).then(|| Bytes::from_static(b"k")),
        value: Some(Bytes::from_static(value.as_bytes())),
        headers: IndexMap::from([(StrBytes::from_static_str("h"), Some(Bytes::from_static(b"v")))]),
    }
}

fn encode(records: &[Record]) -> Bytes {
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    let mut bytes = BytesMut::new();
    RecordBatchEncoder::encode(&mut bytes, records, &options).unwrap();
    bytes.freeze()
}

fn all(batch: &Batch) -> Result<Vec<RawRecord>, String> {
    let mut records = Vec::new();
    batch.visit(|record| {
        records.push(record);
        ControlFlow::Continue(())
    })?;
    Ok(records)
}

#[test]
fn records_are_read_as_they_were_written() {
    let mut bytes = encode(&[record(4, "four"), record(5, "five"), record(6, "six")]);
    let batch = Batch::next(&mut bytes).unwrap().unwrap();
    assert_eq!(batch.last_offset, 6);
    assert!(!batch.is_mark());
    assert_eq!(batch.transaction(), None);
    let records = all(&batch).unwrap();
    assert_eq!(records.len(), 3);
    assert_eq!(
        records[1],
        RawRecord {
            offset: 5,
            timestamp: 1_005,
            key: None,
            value: Some(Bytes::from_static(b"five")),
            headers: Some(vec![(Bytes::from_static(b"h"), Some(Bytes::from_static(b"v")))]),
            // Attributes, two differences, no key, a value, and headers.
            size: 1 + 2 + 1 + 5 + 5,
        }
    );
    assert!(Batch::next(&mut bytes).unwrap().is_none());
}

#[test]
fn one_that_is_cut_off_is_not_taken() {
    let whole = encode(&[record(4, "four")]);
    for end in 0..whole.len() {
        let mut cut = whole.slice(..end);
        assert!(Batch::next(&mut cut).unwrap().is_none(), "cut at {end}");
    }
}

#[test]
fn one_that_is_damaged_is_not_believed() {
    let whole = encode(&[record(4, "four")]);
    for at in 0..whole.len() {
        let mut wrong = BytesMut::from(&whole[..]);
        wrong[at] ^= 0x11;
        if let Ok(Some(batch)) = Batch::next(&mut wrong.freeze()) {
            // Base offset and leader's epoch are not under the checksum.
            assert!(at < 8 || (12..16).contains(&at), "byte {at}");
            drop(all(&batch));
        }
    }
}

/// A batch with a right checksum around any records.
fn batch_of(count: i32, records: &[u8]) -> Bytes {
    let mut bytes = BytesMut::from(&encode(&[record(0, "x")])[..HEAD]);
    bytes[HEAD - 4..HEAD].copy_from_slice(&count.to_be_bytes());
    bytes.extend_from_slice(records);
    let length = i32::try_from(bytes.len() - BEFORE_LENGTH).unwrap();
    bytes[8..BEFORE_LENGTH].copy_from_slice(&length.to_be_bytes());
    let sum = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&sum.to_be_bytes());
    bytes.freeze()
}

fn var(bytes: &mut BytesMut, number: i32) {
    let mut folded = ((number << 1) ^ (number >> 31)).cast_unsigned();
    while folded >= 0x80 {
        bytes.put_u8(u8::try_from(folded & 0x7f).unwrap() | 0x80);
        folded >>= 7;
    }
    bytes.put_u8(u8::try_from(folded).unwrap());
}

/// A record whose headers are said to be so many.
fn with_headers(said: i32, headers: &[&[u8]]) -> Bytes {
    let mut inside = BytesMut::new();
    inside.put_i8(0);
    inside.put_slice(&[0, 0]);
    var(&mut inside, -1);
    var(&mut inside, -1);
    var(&mut inside, said);
    for name in headers {
        var(&mut inside, i32::try_from(name.len()).unwrap());
        inside.put_slice(name);
        var(&mut inside, -1);
    }
    let mut record = BytesMut::new();
    var(&mut record, i32::try_from(inside.len()).unwrap());
    record.extend_from_slice(&inside);
    record.freeze()
}

#[test]
fn numbers_are_folded_around_zero() {
    for wanted in [0, 1, -1, 63, -64, 64, 300, -300, i32::MAX, i32::MIN] {
        let mut bytes = BytesMut::new();
        var(&mut bytes, wanted);
        assert_eq!(number(&mut bytes.freeze()).unwrap(), i64::from(wanted));
    }
    assert!(number(&mut Bytes::from_static(&[0xff; 11])).is_err());
    assert!(number(&mut Bytes::from_static(&[0x80])).is_err());
}

#[test]
fn headers_are_told_as_they_are() {
    let record = with_headers(3, &[b"twice", b"twice", b"\xff\xfe"]);
    let batch = Batch::next(&mut batch_of(1, &record)).unwrap().unwrap();
    let records = all(&batch).unwrap();
    let headers = records[0].headers.as_ref().unwrap();
    let names: Vec<&[u8]> = headers.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, [b"twice" as &[u8], b"twice", b"\xff\xfe"]);
}

#[test]
fn headers_without_number_are_not_held() {
    let check = |many: usize, expected: Option<usize>| {
        let record = with_headers(i32::try_from(many).unwrap(), &vec![&b""[..]; many]);
        let batch = Batch::next(&mut batch_of(2, &[&record[..], &record[..]].concat()));
        let records = all(&batch.unwrap().unwrap()).unwrap();
        for record in &records {
            assert_eq!(record.headers.as_ref().map(Vec::len), expected, "{many}");
            assert!(record.size >= 2 * many, "{}", record.size);
        }
        assert_eq!(records.len(), 2, "the next one begins where it ends");
    };
    check(MOST_HEADERS, Some(MOST_HEADERS));
    check(MOST_HEADERS + 1, None);
    check(3 * MOST_HEADERS, None);
}

#[test]
fn numbers_that_nothing_stands_behind_cost_nothing() {
    let many_headers = with_headers(i32::MAX, &[]);
    for (count, records) in [(i32::MAX, &b""[..]), (1, &many_headers[..]), (2, &many_headers[..])] {
        let batch = Batch::next(&mut batch_of(count, records)).unwrap().unwrap();
        assert_eq!(all(&batch).unwrap_err(), "a record is not laid out as it should be");
    }
}
