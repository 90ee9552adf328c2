//! One destination, and one beside another.

use super::*;
use crate::logs::testing::{Does, Double, FAST, Server, common, numbers};
use crate::testing::wait_for;
use tokio::time::Instant;

const EVERYTHING: std::ops::Range<usize> = 0..300;

fn error(common: &Common) -> Option<String> {
    common.ledger.failures().pop().map(|failed| failed.error)
}

#[test]
fn all_destinations_together_hold_little() {
    let check = |count: usize, expected: usize| {
        let share = Share::new();
        share.set_destinations(count);
        assert_eq!(share.bytes() >> 10, expected, "{count}");
    };
    check(0, 512);
    check(1, 512);
    check(8, 512);
    check(16, 256);
    check(100, 40);
    check(1000, 32);
}

#[tokio::test]
async fn everything_arrives_once_and_in_order() {
    let mut server = Server::new([1]).await;
    let (destination, common) = (Double::default(), common());
    let _sending = server.send(1, &destination, &common);
    for from in EVERYTHING.step_by(100) {
        server.write(from..from + 100);
        server.read().await;
    }
    wait_for(|| destination.taken(), |taken| *taken == numbers(EVERYTHING)).await;
    assert_eq!(error(&common), None);
    assert_eq!(common.ledger.counts().unwrap().sent, 300);
}

#[tokio::test]
async fn one_that_hangs_keeps_no_other_waiting() {
    let mut server = Server::new([1, 2]).await;
    let (hangs, good) = (Double::always(Does::Hang), Double::default());
    let common = common();
    let _sending = [server.send(1, &hangs, &common), server.send(2, &good, &common)];
    for from in EVERYTHING.step_by(100) {
        server.write(from..from + 100);
        server.read().await;
        wait_for(|| good.taken(), |taken| *taken == numbers(0..from + 100)).await;
    }
    assert_eq!((hangs.calls(), hangs.taken().len()), (1, 0));
}

#[tokio::test]
async fn what_was_not_taken_is_sent_again_and_what_was_is_not() {
    let mut server = Server::new([1]).await;
    server.write(0..10);
    server.read().await;
    let later = |done| Does::Later { done, after: None };
    let destination = Double::that([later(0), later(3), later(0), later(2), later(4)]);
    let common = common();
    let _sending = server.send(1, &destination, &common);
    wait_for(|| destination.taken(), |taken| *taken == numbers(0..10)).await;
    let calls = destination.seen().calls.clone();
    let sent: Vec<Vec<String>> = calls.into_iter().map(|(_, sent)| sent).collect();
    let expected = [0..10, 0..10, 3..10, 3..10, 5..10, 9..10].map(numbers);
    assert_eq!(sent, expected);
    wait_for(|| error(&common), Option::is_none).await;
}

#[tokio::test]
async fn it_waits_as_long_as_a_destination_wants() {
    let mut server = Server::new([1]).await;
    server.write(0..10);
    server.read().await;
    let wanted = Duration::from_millis(150);
    let destination = Double::that([Does::Later { done: 0, after: Some(wanted) }]);
    let common = common();
    let _sending = server.send(1, &destination, &common);
    wait_for(|| destination.taken(), |taken| *taken == numbers(0..10)).await;
    let calls: Vec<Instant> = destination.seen().calls.iter().map(|(at, _)| *at).collect();
    assert!(calls[1] - calls[0] >= wanted, "{:?}", calls[1] - calls[0]);
}

#[tokio::test]
async fn a_refusal_is_reported_at_once_and_tried_again_now_and_then() {
    let mut server = Server::new([1]).await;
    server.write(0..10);
    server.read().await;
    let destination = Double::always(Does::Refuse);
    let common = common();
    let _sending = server.send(1, &destination, &common);
    let refused = "it does not accept the token";
    wait_for(|| error(&common), |reported| reported.as_deref() == Some(refused)).await;
    destination.seen().always = None;
    wait_for(|| destination.taken(), |taken| *taken == numbers(0..10)).await;
    let calls: Vec<Instant> = destination.seen().calls.iter().map(|(at, _)| *at).collect();
    for pair in calls.windows(2) {
        assert!(pair[1] - pair[0] >= FAST.refused, "{calls:?}");
    }
    wait_for(|| error(&common), Option::is_none).await;
}

#[tokio::test]
async fn an_unreachable_destination_is_reported_until_it_is_back() {
    let mut server = Server::new([1]).await;
    server.write(0..10);
    server.read().await;
    let destination = Double::always(Does::Later { done: 0, after: None });
    let common = common();
    let _sending = server.send(1, &destination, &common);
    wait_for(|| error(&common), |reported| reported.as_deref() == Some("it is busy")).await;
    wait_for(|| destination.calls(), |calls| *calls > 5).await;
    destination.seen().always = None;
    wait_for(|| destination.taken(), |taken| *taken == numbers(0..10)).await;
    wait_for(|| error(&common), Option::is_none).await;
}

#[tokio::test]
async fn what_it_refuses_for_ever_is_counted_and_does_not_come_again() {
    let mut server = Server::new([1]).await;
    server.write(0..10);
    server.read().await;
    let destination = Double::that([Does::Take { done: 10, dropped: 3 }]);
    let common = common();
    let _sending = server.send(1, &destination, &common);
    wait_for(|| destination.taken(), |taken| *taken == numbers(3..10)).await;
    let sent = || common.ledger.counts().unwrap().sent;
    wait_for(sent, |sent| *sent == 7).await;
    let (_, kept) = server.tail.turn(Timestamp::UNIX_EPOCH, vec![1]).await.unwrap();
    assert_eq!((kept[0].1.behind, kept[0].1.dropped), (0, 3));
}

#[tokio::test]
async fn a_batch_that_was_on_its_way_when_it_was_killed_comes_again() {
    let mut server = Server::new([1]).await;
    server.write(0..10);
    server.read().await;
    let (first, second) =
        (Double::that([Does::Later { done: 4, after: None }, Does::Hang]), Double::default());
    let sending = server.send(1, &first, &common());
    wait_for(|| first.calls(), |calls| *calls == 2).await;
    drop(sending);
    let server = server.restart().await;
    let _sending = server.send(1, &second, &common());
    wait_for(|| second.taken(), |taken| *taken == numbers(4..10)).await;
    assert_eq!(first.taken(), numbers(0..4));
}
