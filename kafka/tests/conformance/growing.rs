//! A fourth server comes, takes part, and goes again.

use crate::checks::{code, come_up};
use crate::subject::{ALL, NEWCOMER, NODES, SOON, Subject};
use crate::{eligible, moving, two_voters, voting};
use kafka::client::{
    Altered, Assignment, Changes, Created, Error, NewTopic, PlacedBroker, PlacedPartition,
    PlacedTopic, PlacementView, Remedy, SettingsOf, TopicPartition,
};
use kafka::settings::CORDONED;
use std::collections::BTreeMap;

pub async fn all(subject: &dyn Subject) {
    come_up(subject, &[NEWCOMER], &ALL).await;
    everything_is_read_at_once(subject).await;
    voting::an_observer_votes_for_a_while(subject).await;
    two_voters::all(subject).await;
    moving::replicas_move(subject).await;
    moving::a_throttled_copy_waits_and_outlives_its_broker(subject).await;
    eligible::removed_replicas_stay_eligible(subject).await;
    a_cordoned_broker_gets_nothing(subject).await;
    what_an_unregistered_broker_holds_has_no_leader(subject).await;
    one_that_is_empty_leaves(subject).await;
}

pub async fn create(subject: &dyn Subject, name: &str, replicas: i16, min_in_sync: Option<&str>) {
    let settings = min_in_sync.map(|it| ("min.insync.replicas".to_owned(), it.to_owned()));
    let (name, settings) = (name.to_owned(), settings.into_iter().collect());
    let topic = NewTopic { name, partitions: 1, replicas, settings };
    let created = subject.admin().create_topic(&subject.grown(), &topic).await;
    assert_eq!(created, Ok(Created::New));
}

pub async fn delete(subject: &dyn Subject, name: &str) {
    let deleted = subject.admin().topics().delete_topic(&subject.cluster(), name).await;
    assert_eq!(deleted, Ok(true));
}

/// A topic of one partition, as a placement has it.
pub struct Seen {
    pub view: PlacementView,
    pub topic: PlacedTopic,
    pub partition: PlacedPartition,
}

pub async fn look(subject: &dyn Subject, name: &str) -> Result<Seen, String> {
    let view = subject.admin().placement().read_placement(&subject.grown()).await;
    let view = view.map_err(|error| error.to_string())?;
    let topic = view.topic(name).ok_or(format!("there is no {name}"))?.clone();
    let partition = topic.partitions[0].clone();
    Ok(Seen { view, topic, partition })
}

/// Waits until the topic's partition is like that.
pub async fn until(
    subject: &dyn Subject,
    name: &str,
    what: &str,
    holds: impl Fn(&Seen) -> bool,
) -> Seen {
    let holds = &holds;
    subject
        .until(what, SOON, async || {
            let seen = look(subject, name).await?;
            let last = format!("{:?}", seen.partition);
            if holds(&seen) { Ok(seen) } else { Err(last) }
        })
        .await
}

/// Writes a message to a broker that may not have heard yet that it leads.
pub async fn write(subject: &dyn Subject, node: i32, name: &str, partition: i32) {
    subject
        .until("the leader takes a message", SOON, async || {
            let written = subject.write(node, name, partition).await;
            written.map_err(|error| error.to_string())
        })
        .await;
}

/// Waits until the replicas are these, whole and in this order.
pub async fn until_settled(subject: &dyn Subject, name: &str, replicas: &[i32]) -> Seen {
    until(subject, name, "its replicas are there and in sync", |seen| {
        let partition = &seen.partition;
        let in_sync = partition.replicas.iter().all(|id| partition.in_sync.contains(id));
        partition.replicas == replicas && in_sync && partition.reassignment.is_none()
    })
    .await
}

pub async fn reassign(subject: &dyn Subject, name: &str, replicas: &[i32]) -> Altered {
    let to = Assignment { at: TopicPartition::new(name, 0), replicas: replicas.to_vec() };
    subject.admin().placement().reassign(&subject.grown(), &[to]).await.unwrap()
}

/// Begins it, and waits until it has ended.
pub async fn move_to(subject: &dyn Subject, name: &str, replicas: &[i32]) -> Seen {
    let altered = reassign(subject, name, replicas).await;
    assert_eq!(altered.refused, []);
    until_settled(subject, name, replicas).await
}

pub async fn set(subject: &dyn Subject, changes: BTreeMap<SettingsOf, Changes>) {
    let settings = subject.admin().settings();
    let answer = settings.change_settings_of(&subject.grown(), &changes).await.unwrap();
    assert_eq!(answer.refused, []);
    assert_eq!(answer.done.len(), changes.len());
}

pub fn one(of: SettingsOf, name: &str, value: Option<&str>) -> BTreeMap<SettingsOf, Changes> {
    [(of, Changes::from([(name.to_owned(), value.map(str::to_owned))]))].into()
}

async fn everything_is_read_at_once(subject: &dyn Subject) {
    create(subject, "placed", 1, None).await;
    let seen = until(subject, "placed", "it is seen", |_| true).await;
    let ids: Vec<i32> = seen.view.brokers.iter().map(|broker| broker.id).collect();
    assert_eq!(ids, ALL);
    assert!(seen.view.brokers.iter().all(PlacedBroker::is_up), "{:?}", seen.view.brokers);
    assert!(!seen.topic.has_own_min_in_sync && !seen.topic.is_throttled, "{:?}", seen.topic);
    let leader = seen.partition.leader.unwrap();
    assert_eq!(seen.partition.replicas, [leader]);
    assert_eq!((&seen.partition.in_sync, seen.partition.elr.len()), (&vec![leader], 0));
    assert_eq!(seen.view.on(leader).filter(|at| at.topic == "placed").count(), 1);
    subject.fill(leader, "placed", 0, 100_000).await;
    let seen = until(subject, "placed", "its size is told", |it| it.partition.bytes >= 100_000);
    let own = seen.await.view.broker(leader).unwrap().own.clone().unwrap();
    assert!(own.log_bytes >= 100_000 && own.throttle.is_none() && !own.is_cordoned, "{own:?}");

    let strict = look(subject, "strict").await.unwrap();
    assert!(strict.topic.has_own_min_in_sync && strict.topic.min_in_sync == 3);
    delete(subject, "placed").await;
}

async fn a_cordoned_broker_gets_nothing(subject: &dyn Subject) {
    if !subject.has_cordon() {
        return;
    }
    let newcomer = SettingsOf::Broker(NEWCOMER);
    set(subject, one(newcomer.clone(), CORDONED, Some("*"))).await;
    until(subject, "orders", "it is cordoned", |seen| is_cordoned(&seen.view)).await;
    for name in ["around-0", "around-1", "around-2"] {
        subject.pause().await;
        create(subject, name, 3, None).await;
        let seen = until(subject, name, "it is placed", |_| true).await;
        assert!(!seen.partition.replicas.contains(&NEWCOMER), "{:?}", seen.partition);
        delete(subject, name).await;
    }
    set(subject, one(newcomer, CORDONED, None)).await;
    until(subject, "orders", "it is free", |seen| !is_cordoned(&seen.view)).await;
}

fn is_cordoned(view: &PlacementView) -> bool {
    view.broker(NEWCOMER).and_then(|it| it.own.as_ref()).is_some_and(|own| own.is_cordoned)
}

/// Kafka does not look what a broker holds that it is told to forget.
async fn what_an_unregistered_broker_holds_has_no_leader(subject: &dyn Subject) {
    create(subject, "doomed", 1, None).await;
    move_to(subject, "doomed", &[NEWCOMER]).await;
    subject.fill(NEWCOMER, "doomed", 0, 1000).await;
    subject.stop(NEWCOMER).await;
    unregister(subject).await;
    let voters = subject.admin().voters();
    assert_eq!(voters.unregister_broker(&subject.cluster(), NEWCOMER).await, Ok(false));
    let orphan = until(subject, "doomed", "it has no leader", |it| it.partition.leader.is_none());
    let orphan = orphan.await;
    assert_eq!(orphan.partition.replicas, [NEWCOMER]);
    let absent = orphan.view.broker(NEWCOMER).unwrap();
    assert!(!absent.is_registered && !absent.is_up(), "{absent:?}");

    // Once it is back Kafka lets it lead at times, and mostly never again.
    come_up(subject, &[NEWCOMER], &ALL).await;
    delete(subject, "doomed").await;
}

async fn one_that_is_empty_leaves(subject: &dyn Subject) {
    let seen = until(subject, "orders", "it is empty", |it| it.view.on(NEWCOMER).next().is_none());
    assert!(seen.await.view.broker(NEWCOMER).unwrap().is_up());
    subject.stop(NEWCOMER).await;
    until(subject, "orders", "it is no longer counted on", |seen| {
        seen.view.broker(NEWCOMER).is_none_or(|it| !it.is_up())
    })
    .await;
    let settings = subject.admin().settings();
    let changes = one(SettingsOf::Broker(NEWCOMER), kafka::throttle::LEADER_RATE, Some("1000"));
    let answer = settings.change_settings_of(&subject.grown(), &changes).await.unwrap();
    let remedies: Vec<Remedy> = answer.refused.iter().map(|(_, error)| error.remedy()).collect();
    assert_eq!(remedies, [Remedy::Retry], "only itself can change that: {answer:?}");
    unregister(subject).await;
    for node in NODES {
        subject
            .until("no broker knows it", SOON, async || {
                let view = subject.admin().describe_cluster(&subject.through(node)).await;
                let view = view.map_err(|error| error.to_string())?;
                let ids: Vec<i32> = view.brokers.iter().map(|broker| broker.id).collect();
                if ids == NODES { Ok(()) } else { Err(format!("{node} sees {view:?}")) }
            })
            .await;
    }
}

async fn unregister(subject: &dyn Subject) {
    let voters = subject.admin().voters();
    assert_eq!(voters.unregister_broker(&subject.cluster(), NEWCOMER).await, Ok(true));
}

/// Why a partition was refused.
pub fn refusals(altered: &Altered) -> Vec<String> {
    let code_of = |(_, error): &(TopicPartition, Error)| code(error);
    altered.refused.iter().map(code_of).collect()
}
