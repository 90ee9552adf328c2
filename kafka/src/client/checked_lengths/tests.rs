use super::*;
use bytes::{BufMut, BytesMut};
use kafka_protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use kafka_protocol::messages::metadata_response::MetadataResponseTopic;
use kafka_protocol::messages::{
    FetchRequest, FetchResponse, ListGroupsRequest, ListGroupsResponse, MetadataRequest,
    MetadataResponse, SaslHandshakeRequest, SaslHandshakeResponse, TopicName,
};
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

/// Short lists and ones beyond what is harmless.
#[test]
fn honest_answers_are_read_as_they_are() {
    for many in [0, 3, HARMLESS + 2] {
        let answer = topics(many);
        let read = decode::<MetadataRequest>(&encode(&answer, 12), 12).unwrap();
        assert_eq!(read.topics, answer.topics);
    }
}

#[test]
fn a_number_that_is_no_length_may_be_any() {
    for number in [0, -1, i32::MIN, i32::MAX, 1 << 20] {
        let answer = ListGroupsResponse::default().with_throttle_time_ms(number);
        let read = decode::<ListGroupsRequest>(&encode(&answer, 3), 3).unwrap();
        assert_eq!(read, answer);
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
    for many in [0, 1, HARMLESS + 1, MAX_ELEMENTS + 1, 4 * MAX_ELEMENTS] {
        let answer = fetched(many);
        let read = decode::<FetchRequest>(&encode(&answer, 12), 12).unwrap();
        assert_eq!(read, answer, "{many} bytes");
    }
}

#[test]
fn bytes_that_are_not_there_are_not_read() {
    let whole = encode(&fetched(2 * MAX_ELEMENTS), 12);
    for end in [whole.len() - 1, MAX_ELEMENTS + 100, 100, 10] {
        assert!(decode::<FetchRequest>(&whole.slice(..end), 12).is_err(), "cut at {end}");
    }
}

/// Reads an answer that begins like this, announces so long a list and then holds zeros.
fn announce<R: Request>(version: i16, before: &[u8], announced: &[u8], rest: usize) {
    let mut bytes = BytesMut::new();
    bytes.put_slice(before);
    bytes.put_slice(announced);
    bytes.put_bytes(0, rest);
    let read = decode::<R>(&bytes.freeze(), version);
    assert!(read.is_err(), "{announced:?} and {rest} bytes");
}

#[test]
fn lists_that_are_not_there_cost_nothing() {
    // Throttle time and error code come before the groups.
    let before = [0; 6];
    for rest in [0, 1, 40, 4 * MAX_ELEMENTS] {
        announce::<ListGroupsRequest>(3, &before, &[0xff, 0xff, 0xff, 0xff, 0x0f], rest);
        announce::<ListGroupsRequest>(3, &before, &[0xff, 0xff, 0xff, 0xff, 0xff], rest);
        announce::<ListGroupsRequest>(3, &before, &[0x80, 0x80, 0x80, 0x80, 0x04], rest);
        announce::<ListGroupsRequest>(3, &before, &[0x81, 0x80, 0x80, 0x01], rest);
    }
}

#[test]
fn a_list_before_the_flexible_versions_is_checked_too() {
    let mechanisms = vec![StrBytes::from_static_str("PLAIN"); 2];
    let answer = SaslHandshakeResponse::default().with_mechanisms(mechanisms);
    assert_eq!(decode::<SaslHandshakeRequest>(&encode(&answer, 1), 1), Ok(answer));
    for announced in [i32::MAX, 1 << 30, 1 << 21] {
        announce::<SaslHandshakeRequest>(1, &[0; 2], &announced.to_be_bytes(), 40);
    }
}
