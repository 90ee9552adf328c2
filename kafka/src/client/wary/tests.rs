use super::*;
use bytes::{BufMut, BytesMut};
use kafka_protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use kafka_protocol::messages::metadata_response::MetadataResponseTopic;
use kafka_protocol::messages::{FetchResponse, ListGroupsResponse, MetadataResponse, TopicName};
use kafka_protocol::protocol::{Encodable, StrBytes};

fn encode<T: Encodable>(answer: &T, version: i16) -> Bytes {
    let mut bytes = BytesMut::new();
    answer.encode(&mut bytes, version).unwrap();
    bytes.freeze()
}

fn topics(many: usize) -> MetadataResponse {
    let topic = |number: usize| {
        let name = TopicName(StrBytes::from_string(format!("topic-{number}")));
        MetadataResponseTopic::default().with_name(Some(name))
    };
    MetadataResponse::default().with_topics((0..many).map(topic).collect())
}

/// Old and new forms of lists, short ones and ones beyond what is harmless.
#[test]
fn honest_answers_are_read_as_they_are() {
    for (many, version) in [(0, 1), (3, 1), (3, 12), (HARMLESS + 2, 1), (HARMLESS + 2, 12)] {
        let answer = topics(many);
        let read: MetadataResponse = decode(&encode(&answer, version), version).unwrap();
        assert_eq!(read.topics.len(), many, "version {version}");
        assert_eq!(read.topics, answer.topics, "version {version}");
    }
}

#[test]
fn a_number_that_is_no_length_may_be_any() {
    for number in [0, -1, i32::MIN, i32::MAX, 1 << 20] {
        for version in [1, 3] {
            let answer = ListGroupsResponse::default().with_throttle_time_ms(number);
            let read: ListGroupsResponse = decode(&encode(&answer, version), version).unwrap();
            assert_eq!(read, answer, "version {version}");
        }
    }
}

fn fetched(bytes: usize) -> FetchResponse {
    let partition = PartitionData::default()
        .with_records(Some(Bytes::from(vec![7; bytes])))
        .with_partition_index(3);
    let topic = FetchableTopicResponse::default().with_partitions(vec![partition]);
    FetchResponse::default().with_responses(vec![topic])
}

#[test]
fn bytes_may_be_more_than_any_list() {
    for many in [0, 1, HARMLESS + 1, AT_MOST + 1, 4 * AT_MOST] {
        let answer = fetched(many);
        let read: FetchResponse = decode(&encode(&answer, 12), 12).unwrap();
        assert_eq!(read, answer, "{many} bytes");
    }
}

#[test]
fn bytes_that_are_not_there_are_not_read() {
    let whole = encode(&fetched(2 * AT_MOST), 12);
    for end in [whole.len() - 1, AT_MOST + 100, 100, 10] {
        assert!(decode::<FetchResponse>(&whole.slice(..end), 12).is_err(), "cut at {end}");
    }
}

/// What an answer begins with before its list, and the list's length.
fn check(before: &[u8], announced: &[u8], rest: usize, version: i16) {
    let mut bytes = BytesMut::new();
    bytes.put_slice(before);
    bytes.put_slice(announced);
    bytes.put_bytes(0, rest);
    let read = decode::<ListGroupsResponse>(&bytes.freeze(), version);
    assert!(read.is_err(), "{announced:?} and {rest} bytes, version {version}");
}

#[test]
fn lists_that_are_not_there_cost_nothing() {
    // Throttle time and error code come before the groups.
    let before = [0; 6];
    for rest in [0, 1, 40, 4 * AT_MOST] {
        check(&before, &i32::MAX.to_be_bytes(), rest, 1);
        check(&before, &(1_i32 << 30).to_be_bytes(), rest, 1);
        check(&before, &(1_i32 << 21).to_be_bytes(), rest, 1);
        check(&before, &[0xff, 0xff, 0xff, 0xff, 0x0f], rest, 3);
        check(&before, &[0xff, 0xff, 0xff, 0xff, 0xff], rest, 3);
        check(&before, &[0x80, 0x80, 0x80, 0x80, 0x04], rest, 3);
        check(&before, &[0x81, 0x80, 0x80, 0x01], rest, 3);
    }
}
