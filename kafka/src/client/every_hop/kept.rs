//! Connections that are dialled, kept and given up, and who is asked first the next
//! time; over real TLS.

use super::brokers::{Door, Fake, Hop, LONG, SPEAKS};
use super::good::good;
use super::good::groups::at;
use super::ill_will::{fault, frame};
use super::ways;
use crate::client::fake::{Asked, Reply, answer, speaks};
use crate::client::{Error, Groups, Remedy};
use kafka_protocol::messages::{ApiKey, FindCoordinatorRequest};
use kafka_protocol::protocol::Decodable;
use model::SeededEntropy;
use std::time::Duration;
use tokio::time::Instant;

const SHORT: Duration = Duration::from_millis(300);

/// Asks twice; who is dialled for it.
async fn dialled_for_two(
    script: impl Fn(&Hop, &Asked) -> Reply + Send + Sync + 'static,
) -> Vec<String> {
    let fake = Fake::unknown(LONG, |_| Door::Open, script);
    for _ in 0..2 {
        assert!(ways::find_partitions(&fake).await.unwrap().contains("[0, 1, 2]"));
    }
    fake.dialled()
}

#[tokio::test]
async fn a_connection_is_kept_while_it_is_quiet() {
    let dialled = dialled_for_two(|hop, asked| good(hop.broker, asked)).await;
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
    let door = |id: i32| if id == 1 { Door::Mute } else { Door::Open };
    // A handshake of the others has to be done in this time, too.
    let fake = Fake::unknown(Duration::from_secs(1), door, |hop, asked| good(hop.broker, asked));
    for _ in 0..2 {
        assert!(ways::find_partitions(&fake).await.is_ok());
        assert_eq!(fake.dialled(), ["b1:9091", "b2:9091"]);
    }
}

#[tokio::test]
async fn when_all_accept_and_say_nothing_that_is_told_in_time() {
    let fake = Fake::unknown(SHORT, |_| Door::Mute, |hop, asked| good(hop.broker, asked));
    let since = Instant::now();
    let error = ways::list_groups(&fake).await.unwrap_err();
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
    let fake = Fake::known(SHORT, |hop, asked| match hop.key {
        ApiKey::FindCoordinator => {
            let body = &mut asked.body.clone();
            let request = FindCoordinatorRequest::decode(body, asked.version).unwrap();
            answer::<FindCoordinatorRequest>(asked, &at(&request, 1, 9091, 0))
        }
        ApiKey::DeleteGroups => Reply::Silence,
        _ => good(hop.broker, asked),
    })
    .await;
    let error = fake.admin.delete_group(&fake.cluster, "billing").await.unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    assert_eq!(error.remedy(), Remedy::Retry);
    assert!(ways::find_partitions(&fake).await.is_ok());
    assert_eq!(fake.asked().last().unwrap(), "b2 Metadata");
    assert!(fake.dialled().is_empty(), "nobody tried the silent one again");
}

/// The connection broke off before there was anything to write.
#[tokio::test]
async fn what_was_never_sent_is_surely_not_written() {
    let script = |hop: &Hop, asked: &Asked| {
        let bad = hop.key == ApiKey::ApiVersions && hop.broker == 2;
        if bad { Reply::HangUp } else { good(hop.broker, asked) }
    };
    let fake = Fake::unknown(LONG, |_| Door::Open, script);
    let told = ways::write(&fake).await.unwrap();
    assert!(told.starts_with("Some([(0, Ok(2)), (1, Err(Unwritten"), "{told}");
    assert!(told.ends_with("perhaps: false })), (2, Ok(2))])"), "{told}");
}

/// What a broker says of itself before anything is asked.
#[tokio::test]
async fn who_can_t_say_what_it_speaks_is_left_out_where_that_shows() {
    // It speaks nothing of what it is asked.
    const OTHERS: usize = 99;
    // Of the faults those that end at once.
    for kind in [1, 3, 4, 5, 7, 8, 10, 11, OTHERS] {
        let dice = SeededEntropy::new(7);
        let script = move |hop: &Hop, asked: &Asked| {
            let bad = hop.key == ApiKey::ApiVersions && hop.broker == 2;
            match kind {
                _ if !bad => good(hop.broker, asked),
                OTHERS => speaks(asked, &SPEAKS[..1]),
                kind => fault(kind, frame(hop, asked), &dice),
            }
        };
        let fake = Fake::unknown(LONG, |_| Door::Open, script);
        let whole = fake.admin.list_groups(&fake.cluster).await.unwrap_err().to_string();
        let expected = "The list of groups without b2:9091 would be incomplete: b2:9091";
        assert!(whole.starts_with(expected), "fault {kind}: {whole}");
        let groups = fake.admin.glimpse_groups(&fake.cluster).await.unwrap();
        let names: Vec<_> = groups.iter().map(|it| it.view.name.as_str()).collect();
        assert_eq!(names, ["audit"], "fault {kind}");
        let known: Vec<_> = groups[0].offsets.iter().map(|it| it.end).collect();
        assert_eq!(known, [Some(2), None, Some(2)], "fault {kind}");
    }
}
