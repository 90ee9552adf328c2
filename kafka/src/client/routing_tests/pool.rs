//! Connections that are dialled, kept and given up, and who is asked first the next
//! time; over real TLS.

use super::brokers::{Door, Fake, Hop, LONG, SPEAKS};
use super::operations;
use super::replies::correct_reply;
use super::replies::groups::at;
use crate::client::fake::{Asked, Reply, answer, speaks};
use crate::client::{Error, Groups, Remedy};
use kafka_protocol::messages::{ApiKey, FindCoordinatorRequest};
use kafka_protocol::protocol::Decodable;
use model::InstanceId;
use std::time::Duration;
use tokio::time::Instant;

const SHORT: Duration = Duration::from_millis(300);

/// The frame of a correct reply.
fn frame(hop: &Hop, asked: &Asked) -> Vec<u8> {
    let Reply::Frame(frame) = correct_reply(hop.broker, asked) else { panic!("it is a frame") };
    frame
}

/// Asks twice; who is dialled for it.
async fn dialled_for_two(
    script: impl Fn(&Hop, &Asked) -> Reply + Send + Sync + 'static,
) -> Vec<String> {
    let fake = Fake::unconnected(LONG, |_| Door::Open, script);
    for _ in 0..2 {
        assert!(operations::find_partitions(&fake).await.unwrap().contains("[0, 1, 2]"));
    }
    fake.dialled()
}

#[tokio::test]
async fn a_connection_is_kept_while_it_is_quiet() {
    let dialled = dialled_for_two(|hop, asked| correct_reply(hop.broker, asked)).await;
    assert_eq!(dialled, ["b1:9091"]);
}

#[tokio::test]
async fn one_that_its_broker_closed_is_dialled_anew() {
    let dialled = dialled_for_two(|hop, asked| {
        let frame = frame(hop, asked);
        if hop.key == ApiKey::Metadata { Reply::Torn(frame) } else { Reply::Frame(frame) }
    });
    assert_eq!(dialled.await, ["b1:9091", "b1:9091"]);
}

/// What comes unasked would be taken for the next answer.
#[tokio::test]
async fn one_on_which_more_was_said_than_asked_is_dialled_anew() {
    let dialled = dialled_for_two(|hop, asked| {
        let frame = frame(hop, asked);
        Reply::Frame(if hop.key == ApiKey::Metadata { frame.repeat(2) } else { frame })
    });
    assert_eq!(dialled.await, ["b1:9091", "b1:9091"]);
}

#[tokio::test]
async fn who_accepts_and_says_nothing_is_waited_for_once() {
    let door = |id: i32| if id == 1 { Door::Unresponsive } else { Door::Open };
    // A handshake of the others has to be done in this time, too.
    let fake = Fake::unconnected(Duration::from_secs(1), door, |hop, asked| {
        correct_reply(hop.broker, asked)
    });
    for _ in 0..2 {
        assert!(operations::find_partitions(&fake).await.is_ok());
        assert_eq!(fake.dialled(), ["b1:9091", "b2:9091"]);
    }
}

#[tokio::test]
async fn when_all_accept_and_say_nothing_that_is_told_in_time() {
    let fake = Fake::unconnected(
        SHORT,
        |_| Door::Unresponsive,
        |hop, asked| correct_reply(hop.broker, asked),
    );
    let since = Instant::now();
    let error = operations::list_groups(&fake).await.unwrap_err();
    assert!(since.elapsed() < 20 * SHORT, "{:?}", since.elapsed());
    assert_eq!(
        error.to_string(),
        "none of 3 brokers answered; the last error: \
         b3:9091 did not finish the TLS handshake within 300ms"
    );
    assert_eq!(fake.dialled(), ["b1:9091", "b2:9091", "b3:9091"]);
}

/// A coordinator that falls silent is cut off by the deadline of all it is asked, which
/// comes before that of the one request.
#[tokio::test]
async fn who_fell_silent_as_a_coordinator_is_asked_last_for_other_things() {
    let fake = Fake::connected(SHORT, |hop, asked| match hop.key {
        ApiKey::FindCoordinator => {
            let body = &mut asked.body.clone();
            let request = FindCoordinatorRequest::decode(body, asked.version).unwrap();
            answer::<FindCoordinatorRequest>(asked, &at(&request, 1, 9091, 0))
        }
        ApiKey::DeleteGroups => Reply::Silence,
        _ => correct_reply(hop.broker, asked),
    })
    .await;
    let error = fake.admin.delete_group(&fake.cluster, "billing").await.unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    assert_eq!(error.remedy(), Remedy::Retry);
    assert!(operations::find_partitions(&fake).await.is_ok());
    assert_eq!(fake.asked().last().unwrap(), "b2 Metadata");
    assert!(fake.dialled().is_empty(), "nobody tried the silent one again");
}

/// The connection broke off before there was anything to write.
#[tokio::test]
async fn what_was_never_sent_is_surely_not_written() {
    let script = |hop: &Hop, asked: &Asked| {
        let bad = hop.key == ApiKey::ApiVersions && hop.broker == 2;
        if bad { Reply::HangUp } else { correct_reply(hop.broker, asked) }
    };
    let fake = Fake::unconnected(LONG, |_| Door::Open, script);
    let told = operations::write(&fake).await.unwrap();
    assert!(told.starts_with("Some([(0, Ok(2)), (1, Err(Unwritten"), "{told}");
    assert!(told.ends_with("perhaps: false })), (2, Ok(2))])"), "{told}");
}

/// Its first reply says which calls it speaks.
#[tokio::test]
async fn who_can_t_say_what_it_speaks_is_left_out_where_that_shows() {
    for speaks_too_little in [true, false] {
        let script = move |hop: &Hop, asked: &Asked| {
            let bad = hop.key == ApiKey::ApiVersions && hop.broker == 2;
            match speaks_too_little {
                _ if !bad => correct_reply(hop.broker, asked),
                true => speaks(asked, &SPEAKS[..1]),
                false => Reply::HangUp,
            }
        };
        let fake = Fake::unconnected(LONG, |_| Door::Open, script);
        let whole = fake.admin.list_groups(&fake.cluster).await.unwrap_err().to_string();
        let expected = "The list of groups without b2:9091 would be incomplete: b2:9091";
        assert!(whole.starts_with(expected), "{whole}");
        let groups = fake.admin.glimpse_groups(&fake.cluster).await.unwrap();
        let names: Vec<_> = groups.iter().map(|it| it.view.name.as_str()).collect();
        assert_eq!(names, ["audit"]);
        let known: Vec<_> = groups[0].offsets.iter().map(|it| it.end).collect();
        assert_eq!(known, [Some(2), None, Some(2)]);
    }
}

/// Two networks may have the same range. Here even trust and identity are the same.
#[tokio::test]
async fn clusters_with_the_same_addresses_share_nothing() {
    let script = |hop: &Hop, asked: &Asked| {
        let silent = hop.instance == InstanceId(1) && hop.broker == 1;
        let silent = silent && hop.key == ApiKey::Metadata;
        if silent { Reply::Silence } else { correct_reply(hop.broker, asked) }
    };
    let mut fake = Fake::unconnected(Duration::from_secs(1), |_| Door::Open, script);
    let mut dialled = vec!["b1:9091", "b2:9091"];
    assert!(operations::find_partitions(&fake).await.is_ok());
    assert_eq!(fake.dialled(), dialled, "the first broker did not answer");

    fake.cluster.instance = InstanceId(2);
    dialled.push("b1:9091");
    for _ in 0..2 {
        assert!(operations::find_partitions(&fake).await.is_ok());
        assert_eq!(fake.dialled(), dialled, "its own first broker answers, on its own connection");
    }

    fake.cluster.instance = InstanceId(1);
    assert!(operations::find_partitions(&fake).await.is_ok());
    assert_eq!(fake.dialled(), dialled, "its connection to the second broker was kept");
}

#[tokio::test]
async fn a_broker_that_listens_elsewhere_now_is_dialled_there() {
    let script = |hop: &Hop, asked: &Asked| correct_reply(hop.broker, asked);
    let mut fake = Fake::unconnected(LONG, |_| Door::Open, script);
    assert!(operations::find_partitions(&fake).await.is_ok());
    fake.cluster.brokers[0].endpoint.port += 1;
    assert!(operations::find_partitions(&fake).await.is_ok());
    assert_eq!(fake.dialled(), ["b1:9091", "b1:9092", "b2:9091"]);
}
