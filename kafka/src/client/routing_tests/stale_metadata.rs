//! Replies that are out of date or incomplete: leaders and coordinators that are none any
//! more, brokers that are gone, and less than was asked for.

use super::brokers::{Fake, Hop, LONG};
use super::operations::{self, Operation};
use super::replies::groups::at;
use super::replies::{correct_reply, metadata, produce, reply_with_code, text};
use crate::client::Remedy;
use crate::client::fake::{Asked, Reply, answer};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::{
    ApiKey, BrokerId, DeleteGroupsRequest, DeleteGroupsResponse, FindCoordinatorRequest,
    MetadataRequest, MetadataResponse, OffsetCommitRequest, OffsetCommitResponse, ProduceRequest,
    ProduceResponse,
};
use kafka_protocol::protocol::Request;
use std::time::Duration;

fn decode<R: Request>(asked: &Asked) -> R {
    R::decode(&mut asked.body.clone(), asked.version).unwrap()
}

/// The outcome where calls of this kind get this reply, how many requests it took, and who
/// was dialled.
async fn with_reply(
    operation: Operation,
    key: ApiKey,
    reply: impl Fn(&Hop, &Asked) -> Reply + Send + Sync + 'static,
) -> (String, usize, Vec<String>) {
    let script = move |hop: &Hop, asked: &Asked| {
        if hop.key == key { reply(hop, asked) } else { correct_reply(hop.broker, asked) }
    };
    let fake = Fake::connected(LONG, script).await;
    let outcome = operation(&fake).await.unwrap_or_else(|error| {
        let again = error.remedy() == Remedy::Retry;
        format!("{}{error}", if again { "for now: " } else { "" })
    });
    (outcome, fake.asked().len(), fake.dialled())
}

/// The same, where this is changed in all metadata.
async fn with_metadata(
    operation: Operation,
    change: impl Fn(&mut MetadataResponse) + Send + Sync + 'static,
) -> (String, usize, Vec<String>) {
    let reply = move |hop: &Hop, asked: &Asked| {
        let mut told = metadata(hop.broker, &decode(asked), 0);
        change(&mut told);
        answer::<MetadataRequest>(asked, &told)
    };
    with_reply(operation, ApiKey::Metadata, reply).await
}

const NO_LEADER: &str = "for now: no server that answers leads orders-0 now";

const NO_LEADERS: &str = "for now: no server that answers leads orders-0, orders-1, orders-2 now";

const MOVED: &str = "for now: Kafka refused ListOffsets for orders-0: NotLeaderOrFollower";

#[tokio::test]
async fn leaders_that_are_no_brokers_lead_nothing() {
    for id in [9, -1] {
        let change = move |told: &mut MetadataResponse| {
            for partition in told.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
                partition.leader_id = BrokerId(id);
            }
        };
        let cases: [(Operation, &str); 3] = [
            (operations::find_offsets, "{}"),
            (operations::read_newest, NO_LEADERS),
            (operations::write, NO_LEADER),
        ];
        for (way, expected) in cases {
            let (told, asked, dialled) = with_metadata(way, change).await;
            assert_eq!((told.as_str(), asked), (expected, 1), "{id}");
            assert!(dialled.is_empty(), "{id}");
        }
    }
}

#[tokio::test]
async fn brokers_that_are_not_there_are_left_out_or_told() {
    let (told, _, dialled) = with_metadata(operations::list_groups, |told| {
        let other = told.brokers[0].clone().with_node_id(BrokerId(7)).with_host(text("nowhere"));
        told.brokers.push(other);
    })
    .await;
    assert!(told.contains("audit") && told.contains("billing"), "{told}");
    assert!(dialled.is_empty(), "it coordinates nothing");
    let (told, _, dialled) = with_metadata(operations::list_groups, |told| {
        for broker in &mut told.brokers {
            broker.host = text("nowhere");
        }
    })
    .await;
    let refused = "none of 3 brokers answered; the last error: nowhere:9091 refused the connection";
    assert_eq!(told, format!("for now: {refused}"));
    assert_eq!(dialled, ["nowhere:9091"; 3]);
}

/// What is told of a part must not look as if it were all.
#[tokio::test]
async fn what_would_be_incomplete_is_an_error_that_names_what_is_missing() {
    let of_second = |told: &mut MetadataResponse| {
        let partitions = told.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
        for partition in partitions.filter(|it| it.partition_index == 1) {
            partition.leader_id = BrokerId(-1);
        }
    };
    let (told, asked, _) = with_metadata(operations::list_groups, of_second).await;
    let expected = "for now: The list of groups would be incomplete: no server that answers leads \
                    __consumer_offsets-1 now";
    assert_eq!((told.as_str(), asked), (expected, 1));
    let (told, asked, _) = with_metadata(operations::read_first, of_second).await;
    assert_eq!((told, asked), (NO_LEADER.replace("orders-0", "orders-1"), 1));
    let away = |told: &mut MetadataResponse| told.brokers[1].host = text("nowhere");
    let refused = "nowhere:9091 refused the connection";
    let (told, ..) = with_metadata(operations::list_groups, away).await;
    let what = "The list of groups without nowhere:9091 would be incomplete";
    assert_eq!(told, format!("for now: {what}: {refused}"));
    let (told, ..) = with_metadata(operations::read_newest, away).await;
    let what = "Topic orders without orders-1 would be incomplete";
    assert_eq!(told, format!("for now: {what}: {refused}"));
}

/// One of two that moved is not in the answer of who led it.
#[tokio::test]
async fn a_partition_that_moves_while_it_is_read_is_not_left_out() {
    let (told, ..) = with_reply(operations::read_first, ApiKey::ListOffsets, |hop, asked| {
        let code = ResponseError::NotLeaderOrFollower.code();
        reply_with_code(hop.broker, asked, if hop.broker == 2 { code } else { 0 })
    })
    .await;
    assert_eq!(told, MOVED.replace("orders-0", "orders-1"));
}

/// "There are no groups" would not be true.
#[tokio::test]
async fn a_broker_that_names_no_broker_is_not_believed() {
    let expected = "for now: none of 3 brokers answered; the last error: Kafka refused Metadata \
                    for the cluster: BrokerNotAvailable (it names no broker that lives)";
    let (told, asked, _) =
        with_metadata(operations::list_groups, |told| told.brokers.clear()).await;
    assert_eq!((told.as_str(), asked), (expected, 3));
}

/// All of them would be dialled at once.
#[tokio::test]
async fn a_broker_that_names_too_many_is_not_believed() {
    let (told, asked, dialled) = with_metadata(operations::list_groups, |told| {
        told.brokers = vec![told.brokers[0].clone(); 1025];
    })
    .await;
    let expected = "none of 3 brokers answered; the last error: b3:9091 sent an answer to \
                    Metadata that can't be read: it names 1025 brokers";
    assert_eq!((told.as_str(), asked), (expected, 3));
    assert!(dialled.is_empty());
}

/// Each says that the next one is it.
#[tokio::test]
async fn coordinators_are_not_followed_in_circles() {
    let cases: [(Operation, &str); 2] = [
        (operations::describe_group, "ConsumerGroupDescribe"),
        (operations::delete_group, "DeleteGroups"),
    ];
    for (way, call) in cases {
        let fake = Fake::connected(LONG, |hop, asked| {
            if hop.key != ApiKey::FindCoordinator {
                return reply_with_code(hop.broker, asked, ResponseError::NotCoordinator.code());
            }
            let next = at(&decode(asked), hop.broker % 3 + 1, 9091, 0);
            answer::<FindCoordinatorRequest>(asked, &next)
        });
        let fake = fake.await;
        let error = way(&fake).await.unwrap_err();
        let expected = format!("Kafka refused {call} for billing: NotCoordinator");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.remedy(), Remedy::Retry);
        assert_eq!(fake.asked(), ["b1 FindCoordinator".to_owned(), format!("b2 {call}")]);
    }
}

#[tokio::test]
async fn a_coordinator_that_can_t_be_dialled_is_an_error() {
    for (id, port, expected) in [
        (9, 9091, "for now: b9:9091 refused the connection"),
        (
            2,
            -1,
            "none of 3 brokers answered; the last error: b3:9091 sent an answer to \
             FindCoordinator that can't be read: the coordinator has no port",
        ),
    ] {
        let reply = move |_: &Hop, asked: &Asked| {
            answer::<FindCoordinatorRequest>(asked, &at(&decode(asked), id, port, 0))
        };
        let (told, ..) = with_reply(operations::delete_group, ApiKey::FindCoordinator, reply).await;
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn what_an_answer_does_not_tell_of_is_not_done() {
    let expected = |call: &str, what: &str| {
        format!("b2:9091 sent an answer to {call} that can't be read: it does not mention {what}")
    };
    let (told, ..) = with_reply(operations::reset_group, ApiKey::OffsetCommit, |_, asked| {
        answer::<OffsetCommitRequest>(asked, &OffsetCommitResponse::default())
    })
    .await;
    assert_eq!(told, expected("OffsetCommit", "orders-0"));
    let (told, ..) = with_reply(operations::delete_group, ApiKey::DeleteGroups, |_, asked| {
        answer::<DeleteGroupsRequest>(asked, &DeleteGroupsResponse::default())
    })
    .await;
    assert_eq!(told, expected("DeleteGroups", "billing"));
    let (told, ..) = with_reply(operations::write, ApiKey::Produce, |hop, asked| {
        let none = answer::<ProduceRequest>(asked, &ProduceResponse::default());
        if hop.broker == 2 { none } else { correct_reply(hop.broker, asked) }
    })
    .await;
    assert!(told.starts_with("Some([(0, Ok(2)), (1, Err(Unwritten"), "{told}");
    assert!(told.ends_with("perhaps: true })), (2, Ok(2))])"), "{told}");
}

#[tokio::test]
async fn a_leader_that_is_one_no_longer_costs_its_partition_alone() {
    let moved = |hop: &Hop, asked: &Asked| {
        let code = ResponseError::NotLeaderOrFollower.code();
        reply_with_code(hop.broker, asked, if hop.broker == 2 { code } else { 0 })
    };
    let (told, asked, _) = with_reply(operations::write, ApiKey::Produce, moved).await;
    assert!(told.ends_with("perhaps: false })), (2, Ok(2))])"), "{told}");
    assert_eq!(asked, 4, "nothing is written again");
    let (told, ..) = with_reply(operations::find_offsets, ApiKey::ListOffsets, moved).await;
    assert!(told.contains("partition: 0 }") && !told.contains("partition: 1 }"), "{told}");
}

/// It had written the message before it lost the lead, so the next leader may have it.
#[tokio::test]
async fn what_a_leader_wrote_before_it_was_one_no_longer_may_be_there() {
    let (told, ..) = with_reply(operations::write, ApiKey::Produce, |hop, asked| {
        let mut told = produce(hop.broker, &decode(asked), 0);
        for one in told.responses.iter_mut().flat_map(|topic| &mut topic.partition_responses) {
            if hop.broker == 2 {
                one.error_code = ResponseError::NotLeaderOrFollower.code();
            }
        }
        answer::<ProduceRequest>(asked, &told)
    })
    .await;
    assert!(told.ends_with("perhaps: true })), (2, Ok(2))])"), "{told}");
}

/// The others' answers are told all the same.
#[tokio::test]
async fn an_unresponsive_leader_is_waited_for_as_long_as_was_said() {
    let fake = Fake::connected(LONG, |hop, asked| {
        let mute = hop.key == ApiKey::Produce && hop.broker == 2;
        if mute { Reply::Silence } else { correct_reply(hop.broker, asked) }
    });
    // The others have to answer in this time, however busy the machine is.
    let told = operations::write_within(&fake.await, Duration::from_secs(3)).await.unwrap();
    assert!(told.starts_with("Some([(0, Ok(2)), (1, Err(Unwritten"), "{told}");
    assert!(told.contains("gave no answer in time"), "{told}");
    assert!(told.ends_with("perhaps: true })), (2, Ok(2))])"), "{told}");
}

/// That is another thing than a partition without a leader.
#[tokio::test]
async fn without_metadata_nothing_is_said_of_leaders() {
    let fake = Fake::connected(LONG, |_, _| Reply::Silence);
    let error =
        operations::write_within(&fake.await, Duration::from_millis(100)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Kafka refused Metadata for orders: BrokerNotAvailable (no broker said in time which broker leads it)"
    );
    assert_eq!(error.remedy(), Remedy::Retry);
    assert!(!error.may_have_done_it());
}
