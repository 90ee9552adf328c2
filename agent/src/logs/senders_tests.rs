//! Destinations that come, change and go.

use super::*;
use crate::logs::testing::{Does, Doubles, Server, common, numbers, splunk};
use crate::testing::{integrations, wait_for};
use std::time::Duration;

fn document(revision: i64, them: &[(i64, &str)]) -> LogIntegrations {
    let integrations_of = them.iter().map(|(id, token)| splunk(*id, token)).collect();
    LogIntegrations { integrations: integrations_of, ..integrations(revision) }
}

fn pairs(them: &[(i64, &str)]) -> Vec<(i64, String)> {
    them.iter().map(|(id, token)| (*id, (*token).to_owned())).collect()
}

#[tokio::test]
async fn only_what_changed_begins_anew_and_goes_on_where_it_was() {
    let (mut server, doubles, common) = (Server::new([1, 2]).await, Doubles::default(), common());
    let mut senders = Senders::new(Box::new(doubles.clone()), common.clone());
    senders.apply(&document(1, &[(1, "hangs"), (2, "b")]), &server.tail);
    server.write(0..10);
    server.read().await;
    wait_for(|| doubles.last_with("b").taken(), |taken| *taken == numbers(0..10)).await;
    wait_for(|| doubles.last_with("hangs").calls(), |calls| *calls == 1).await;

    senders.apply(&document(2, &[(1, "better"), (2, "b")]), &server.tail);
    assert_eq!(doubles.made(), pairs(&[(1, "hangs"), (2, "b"), (1, "better")]));
    wait_for(|| doubles.last_with("better").taken(), |taken| *taken == numbers(0..10)).await;
    server.write(10..20);
    server.read().await;
    for token in ["b", "better"] {
        wait_for(|| doubles.last_with(token).taken(), |taken| *taken == numbers(0..20)).await;
    }
    // The same once more is no reason for anything.
    senders.apply(&document(3, &[(1, "better"), (2, "b")]), &server.tail);
    assert_eq!(doubles.made().len(), 3);

    // What events say of their instance is in all of them.
    let renamed = LogIntegrations {
        instance_name: "bills".into(),
        ..document(4, &[(1, "better"), (2, "b")])
    };
    senders.apply(&renamed, &server.tail);
    assert_eq!(doubles.made()[3..], pairs(&[(1, "better"), (2, "b")]));
}

/// However long it is to wait.
#[tokio::test]
async fn settings_that_are_set_again_have_it_try_at_once() {
    let (mut server, doubles, common) = (Server::new([1]).await, Doubles::default(), common());
    let mut senders = Senders::new(Box::new(doubles.clone()), common.clone());
    senders.apply(&document(1, &[(1, "a")]), &server.tail);
    let after = Some(Duration::from_hours(1));
    doubles.last_with("a").seen().always = Some(Does::Later { done: 0, after });
    server.write(0..10);
    server.read().await;
    wait_for(|| common.ledger.failures().len(), |failures| *failures == 1).await;
    let mut again = document(2, &[(1, "a")]);
    again.integrations[0].version += 1;
    senders.apply(&again, &server.tail);
    assert_eq!(common.ledger.failures(), []);
    wait_for(|| doubles.last_with("a").taken(), |taken| *taken == numbers(0..10)).await;
}

#[tokio::test]
async fn a_removed_destination_gets_nothing_more_and_is_not_reported() {
    let (mut server, doubles, common) = (Server::new([1, 2]).await, Doubles::default(), common());
    let mut senders = Senders::new(Box::new(doubles.clone()), common.clone());
    senders.apply(&document(1, &[(1, "hangs"), (2, "b")]), &server.tail);
    server.write(0..10);
    server.read().await;
    wait_for(|| doubles.last_with("hangs").calls(), |calls| *calls == 1).await;
    common.ledger.fails(IntegrationId(1), "it is away".into());
    senders.apply(&document(2, &[(2, "b")]), &server.tail);
    assert_eq!(common.ledger.failures(), []);
    server.write(10..20);
    server.read().await;
    wait_for(|| doubles.last_with("b").taken(), |taken| *taken == numbers(0..20)).await;
    assert_eq!(doubles.last_with("hangs").calls(), 1);
    senders.end();
    assert_eq!(common.ledger.counts(), None);
}

#[tokio::test]
async fn a_destination_that_can_t_be_sent_to_is_reported_and_delays_no_other() {
    let (mut server, doubles, common) = (Server::new([1, 2]).await, Doubles::default(), common());
    let mut senders = Senders::new(Box::new(doubles.clone()), common.clone());
    senders.apply(&document(1, &[(1, ""), (2, "b")]), &server.tail);
    let failures = common.ledger.failures();
    let failures: Vec<_> = failures.into_iter().map(|it| (it.id, it.error)).collect();
    assert_eq!(failures, [(IntegrationId(1), "it can't be sent to".to_owned())]);
    server.write(0..10);
    server.read().await;
    wait_for(|| doubles.last_with("b").taken(), |taken| *taken == numbers(0..10)).await;
    senders.apply(&document(2, &[(1, "a"), (2, "b")]), &server.tail);
    assert_eq!(common.ledger.failures(), []);
    wait_for(|| doubles.last_with("a").taken(), |taken| *taken == numbers(0..10)).await;
}
