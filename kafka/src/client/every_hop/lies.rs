//! Answers that can be read, and are not true: leaders and coordinators who are none,
//! offsets that go backwards, what nobody asked for, and less than was asked for.

use super::brokers::{Fake, Hop, LONG};
use super::good::groups::at;
use super::good::{fetch, good, list_offsets, metadata, produce, text, with_code};
use super::ways::{self, Way};
use crate::client::Remedy;
use crate::client::fake::{Asked, Reply, answer};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_groups_response::DescribedGroup;
use kafka_protocol::messages::{
    ApiKey, BrokerId, DeleteGroupsRequest, DeleteGroupsResponse, DescribeGroupsRequest,
    DescribeGroupsResponse, FetchRequest, FindCoordinatorRequest, GroupId, ListOffsetsRequest,
    MetadataRequest, MetadataResponse, OffsetCommitRequest, OffsetCommitResponse, ProduceRequest,
    ProduceResponse,
};
use kafka_protocol::protocol::Request;
use std::time::Duration;

fn decode<R: Request>(asked: &Asked) -> R {
    R::decode(&mut asked.body.clone(), asked.version).unwrap()
}

/// What comes of a way on which one call is answered by this, and which requests it took.
async fn lied_to(
    way: Way,
    key: ApiKey,
    lie: impl Fn(&Hop, &Asked) -> Reply + Send + Sync + 'static,
) -> (String, usize, Vec<String>) {
    let script = move |hop: &Hop, asked: &Asked| {
        if hop.key == key { lie(hop, asked) } else { good(hop.broker, asked) }
    };
    let fake = Fake::known(LONG, script).await;
    let told = way(&fake).await.unwrap_or_else(|error| {
        let again = error.remedy() == Remedy::Retry;
        format!("{}{error}", if again { "for now: " } else { "" })
    });
    (told, fake.asked().len(), fake.dialled())
}

/// The same, where brokers tell this of each other.
async fn led_astray(
    way: Way,
    change: impl Fn(&mut MetadataResponse) + Send + Sync + 'static,
) -> (String, usize, Vec<String>) {
    let lie = move |hop: &Hop, asked: &Asked| {
        let mut told = metadata(hop.broker, &decode(asked), 0);
        change(&mut told);
        answer::<MetadataRequest>(asked, &told)
    };
    lied_to(way, ApiKey::Metadata, lie).await
}

const NO_LEADER: &str = "for now: no server that answers leads orders-0 now";

const NO_LEADERS: &str = "for now: no server that answers leads orders-0, orders-1, orders-2 now";

const MOVED: &str = "for now: Kafka refused ListOffsets for orders-0: NotLeaderOrFollower";

#[tokio::test]
async fn leaders_that_nobody_knows_lead_nothing() {
    for id in [9, -1, i32::MIN, i32::MAX] {
        let change = move |told: &mut MetadataResponse| {
            for partition in told.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
                partition.leader_id = BrokerId(id);
            }
        };
        let cases: [(Way, &str); 3] =
            [(ways::find_offsets, "{}"), (ways::read_newest, NO_LEADERS), (ways::write, NO_LEADER)];
        for (way, expected) in cases {
            let (told, asked, dialled) = led_astray(way, change).await;
            assert_eq!((told.as_str(), asked), (expected, 1), "{id}");
            assert!(dialled.is_empty(), "{id}");
        }
    }
}

#[tokio::test]
async fn brokers_that_are_not_there_are_left_out_or_told() {
    let (told, _, dialled) = led_astray(ways::list_groups, |told| {
        let other = told.brokers[0].clone().with_node_id(BrokerId(7)).with_host(text("nowhere"));
        told.brokers.push(other);
    })
    .await;
    assert!(told.contains("audit") && told.contains("billing"), "{told}");
    assert!(dialled.is_empty(), "it coordinates nothing");
    let (told, _, dialled) = led_astray(ways::list_groups, |told| {
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
    let (told, asked, _) = led_astray(ways::list_groups, of_second).await;
    let expected = "for now: The list of groups would be incomplete: no server that answers leads \
                    __consumer_offsets-1 now";
    assert_eq!((told.as_str(), asked), (expected, 1));
    let (told, asked, _) = led_astray(ways::read_first, of_second).await;
    assert_eq!((told, asked), (NO_LEADER.replace("orders-0", "orders-1"), 1));
    let away = |told: &mut MetadataResponse| told.brokers[1].host = text("nowhere");
    let refused = "nowhere:9091 refused the connection";
    let (told, ..) = led_astray(ways::list_groups, away).await;
    let what = "The list of groups without nowhere:9091 would be incomplete";
    assert_eq!(told, format!("for now: {what}: {refused}"));
    let (told, ..) = led_astray(ways::read_newest, away).await;
    let what = "Topic orders without orders-1 would be incomplete";
    assert_eq!(told, format!("for now: {what}: {refused}"));
}

/// One of two that moved is not in the answer of who led it.
#[tokio::test]
async fn a_partition_that_moves_while_it_is_read_is_not_left_out() {
    let (told, ..) = lied_to(ways::read_first, ApiKey::ListOffsets, |hop, asked| {
        let code = ResponseError::NotLeaderOrFollower.code();
        with_code(hop.broker, asked, if hop.broker == 2 { code } else { 0 })
    })
    .await;
    assert_eq!(told, MOVED.replace("orders-0", "orders-1"));
}

/// "There are no groups" would not be true.
#[tokio::test]
async fn a_broker_that_knows_of_nobody_is_not_believed() {
    let expected = "for now: none of 3 brokers answered; the last error: Kafka refused Metadata \
                    for the cluster: BrokerNotAvailable (it names no broker that lives)";
    let (told, asked, _) = led_astray(ways::list_groups, |told| told.brokers.clear()).await;
    assert_eq!((told.as_str(), asked), (expected, 3));
    for port in [-1, 70_000, i32::MIN] {
        let unheard = move |told: &mut MetadataResponse| {
            for broker in &mut told.brokers {
                broker.port = port;
            }
        };
        let (told, asked, _) = led_astray(ways::list_groups, unheard).await;
        assert_eq!((told.as_str(), asked), (expected, 3), "{port}");
    }
}

/// All of them would be dialled at once.
#[tokio::test]
async fn a_broker_that_knows_of_too_many_is_not_believed() {
    let (told, asked, dialled) = led_astray(ways::list_groups, |told| {
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
async fn nobody_is_followed_in_circles() {
    let cases: [(Way, &str); 2] =
        [(ways::describe_group, "ConsumerGroupDescribe"), (ways::delete_group, "DeleteGroups")];
    for (way, call) in cases {
        let fake = Fake::known(LONG, |hop, asked| {
            if hop.key != ApiKey::FindCoordinator {
                return with_code(hop.broker, asked, ResponseError::NotCoordinator.code());
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
async fn a_coordinator_that_is_none_is_told() {
    for (id, port, expected) in [
        (9, 9091, "for now: b9:9091 refused the connection"),
        (
            2,
            -1,
            "none of 3 brokers answered; the last error: b3:9091 sent an answer to \
             FindCoordinator that can't be read: the coordinator has no port",
        ),
    ] {
        let lie = move |_: &Hop, asked: &Asked| {
            answer::<FindCoordinatorRequest>(asked, &at(&decode(asked), id, port, 0))
        };
        let (told, ..) = lied_to(ways::delete_group, ApiKey::FindCoordinator, lie).await;
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn what_an_answer_does_not_tell_of_is_not_done() {
    let expected = |call: &str, what: &str| {
        format!("b2:9091 sent an answer to {call} that can't be read: it does not tell of {what}")
    };
    let (told, ..) = lied_to(ways::reset_group, ApiKey::OffsetCommit, |_, asked| {
        answer::<OffsetCommitRequest>(asked, &OffsetCommitResponse::default())
    })
    .await;
    assert_eq!(told, expected("OffsetCommit", "orders-0"));
    let (told, ..) = lied_to(ways::delete_group, ApiKey::DeleteGroups, |_, asked| {
        answer::<DeleteGroupsRequest>(asked, &DeleteGroupsResponse::default())
    })
    .await;
    assert_eq!(told, expected("DeleteGroups", "billing"));
    let (told, ..) = lied_to(ways::write, ApiKey::Produce, |hop, asked| {
        let none = answer::<ProduceRequest>(asked, &ProduceResponse::default());
        if hop.broker == 2 { none } else { good(hop.broker, asked) }
    })
    .await;
    assert!(told.starts_with("Some([(0, Ok(2)), (1, Err(Unwritten"), "{told}");
    assert!(told.ends_with("perhaps: true })), (2, Ok(2))])"), "{told}");
}

#[tokio::test]
async fn a_leader_that_is_one_no_longer_costs_its_partition_alone() {
    let moved = |hop: &Hop, asked: &Asked| {
        let code = ResponseError::NotLeaderOrFollower.code();
        with_code(hop.broker, asked, if hop.broker == 2 { code } else { 0 })
    };
    let (told, asked, _) = lied_to(ways::write, ApiKey::Produce, moved).await;
    assert!(told.ends_with("perhaps: false })), (2, Ok(2))])"), "{told}");
    assert_eq!(asked, 4, "nothing is written again");
    let (told, ..) = lied_to(ways::find_offsets, ApiKey::ListOffsets, moved).await;
    assert!(told.contains("partition: 0 }") && !told.contains("partition: 1 }"), "{told}");
}

/// It had written the message before it lost the lead, so the next leader may have it.
#[tokio::test]
async fn what_a_leader_wrote_before_it_was_one_no_longer_may_be_there() {
    let (told, ..) = lied_to(ways::write, ApiKey::Produce, |hop, asked| {
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
async fn a_leader_that_says_nothing_is_waited_for_as_long_as_was_said() {
    let fake = Fake::known(LONG, |hop, asked| {
        let mute = hop.key == ApiKey::Produce && hop.broker == 2;
        if mute { Reply::Silence } else { good(hop.broker, asked) }
    });
    // The others have to answer in this time, however busy the machine is.
    let told = ways::write_within(&fake.await, Duration::from_secs(3)).await.unwrap();
    assert!(told.starts_with("Some([(0, Ok(2)), (1, Err(Unwritten"), "{told}");
    assert!(told.contains("gave no answer in time"), "{told}");
    assert!(told.ends_with("perhaps: true })), (2, Ok(2))])"), "{told}");
}

/// That is another thing than a partition without a leader.
#[tokio::test]
async fn where_nobody_tells_who_leads_nothing_is_said_of_leaders() {
    let fake = Fake::known(LONG, |_, _| Reply::Silence);
    let error = ways::write_within(&fake.await, Duration::from_millis(100)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Kafka refused Metadata for orders: BrokerNotAvailable (no broker told in time who leads it)"
    );
    assert_eq!(error.remedy(), Remedy::Retry);
    assert!(!error.may_have_done_it());
}

#[tokio::test]
async fn another_group_is_not_told_for_the_one_that_was_asked_for() {
    let (told, ..) = lied_to(ways::describe_group, ApiKey::DescribeGroups, |_, asked| {
        let other = DescribedGroup::default().with_group_id(GroupId(text("other")));
        let response = DescribeGroupsResponse::default().with_groups(vec![other]);
        answer::<DescribeGroupsRequest>(asked, &response)
    })
    .await;
    assert_eq!(told, "None");
}

const ALL_MESSAGES: &str = "Some([(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)])";

#[tokio::test]
async fn offsets_may_go_backwards_or_anywhere() {
    let cases: [(Way, i64, i64, &str); 6] = [
        (ways::read_first, 100, 5, "Some([])"),
        (ways::read_newest, 100, 5, "Some([])"),
        (ways::read_first, 0, i64::MAX, ALL_MESSAGES),
        (ways::read_newest, 0, i64::MAX, "Some([])"),
        (ways::read_newest, -1, i64::MIN, MOVED),
        (ways::reset_group, i64::MAX, 0, "()"),
    ];
    for (way, first, last, expected) in cases {
        let lie = move |hop: &Hop, asked: &Asked| {
            let mut told = list_offsets(hop.broker, &decode(asked), 0);
            for one in told.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
                one.offset = if one.offset == 0 { first } else { last };
            }
            answer::<ListOffsetsRequest>(asked, &told)
        };
        let (told, asked, _) = lied_to(way, ApiKey::ListOffsets, lie).await;
        assert_eq!(told, expected, "from {first} to {last}");
        assert!(asked < 32, "{asked}");
    }
}

#[tokio::test]
async fn what_is_told_twice_or_unasked_is_read_once_or_not() {
    for way in [ways::read_first as Way, ways::read_newest] {
        let lie = |hop: &Hop, asked: &Asked| {
            let mut told = fetch(hop.broker, &decode(asked), 0);
            for topic in &mut told.responses {
                let own = topic.partitions[0].clone();
                topic.partitions = vec![own.clone().with_partition_index(77), own.clone(), own];
            }
            answer::<FetchRequest>(asked, &told)
        };
        let (told, ..) = lied_to(way, ApiKey::Fetch, lie).await;
        assert_eq!(told, ALL_MESSAGES);
    }
}
