//! What both clusters do with groups and quotas.

use crate::checks::{TOPIC, code};
use crate::subject::{SOON, Subject, settled};
use kafka::client::groups::{Assignment, Group};
use kafka::client::quotas::{Name, Quota, QuotaEntity, QuotaKey};
use kafka::client::{At, TopicPartition};
use std::collections::BTreeMap;

const GROUP: &str = "billing/päckchen";
const NEWER: &str = "reports";

pub async fn all(subject: &dyn Subject) {
    groups_come_and_go(subject).await;
    newer_groups_come_and_go(subject).await;
    quotas_are_kept(subject).await;
}

fn first() -> TopicPartition {
    TopicPartition::new(TOPIC, 0)
}

async fn group(subject: &dyn Subject) -> Option<Group> {
    called(subject, GROUP).await
}

async fn called(subject: &dyn Subject, name: &str) -> Option<Group> {
    let (admin, cluster) = (subject.admin().groups(), subject.cluster());
    settled(subject, "a group is told", async || admin.describe_group(&cluster, name).await).await
}

async fn groups_come_and_go(subject: &dyn Subject) {
    let (admin, cluster) = (subject.admin().groups(), subject.cluster());
    assert_eq!(group(subject).await, None);
    assert_eq!(admin.delete_group(&cluster, GROUP).await, Ok(false));
    let committed = BTreeMap::from([(first(), 0)]);
    admin.commit_offsets(&cluster, GROUP, &committed).await.unwrap();
    let ends = admin.find_offsets(&cluster, &[first()], At::Latest).await.unwrap();
    let end = ends[&first()].unwrap();
    assert!(end > 0, "it was written to");
    let told = group(subject).await.unwrap();
    assert_eq!((told.view.state.as_str(), told.view.members.len()), ("Empty", 0));
    assert_eq!((told.topics(), told.lag()), (vec![TOPIC.to_owned()], Some(end)));
    assert_eq!(admin.list_groups(&cluster).await, Ok(vec![told]));
    places_are_found(subject, end).await;
    members_keep_a_group(subject).await;
    assert_eq!(admin.delete_group(&cluster, GROUP).await, Ok(true));
    assert_eq!(group(subject).await, None);
    assert_eq!(admin.list_groups(&cluster).await, Ok(vec![]));
}

async fn places_are_found(subject: &dyn Subject, end: i64) {
    let (admin, cluster) = (subject.admin().groups(), subject.cluster());
    let tomorrow = subject.now().as_millisecond() + 86_400_000;
    let cases = [
        (At::Earliest, Some(0)),
        (At::Latest, Some(end)),
        (At::LatestStable, Some(end)),
        (At::Time(0), Some(0)),
        (At::Time(tomorrow), None),
    ];
    for (place, expected) in cases {
        let found = admin.find_offsets(&cluster, &[first()], place).await.unwrap();
        assert_eq!(found, BTreeMap::from([(first(), expected)]), "{place:?}");
    }
    let absent = [TopicPartition::new(TOPIC, 99), TopicPartition::new("absent", 0)];
    let found = admin.find_offsets(&cluster, &absent, At::Latest).await.unwrap();
    assert_eq!(found, BTreeMap::new());
    let topics = [TOPIC.to_owned(), "absent".to_owned()];
    let there = admin.find_partitions(&cluster, &topics).await.unwrap();
    assert_eq!(there, BTreeMap::from([(TOPIC.to_owned(), vec![0, 1, 2])]));
}

async fn members_keep_a_group(subject: &dyn Subject) {
    let (admin, cluster) = (subject.admin().groups(), subject.cluster());
    subject.join_group(GROUP, TOPIC).await;
    let told = group(subject).await.unwrap();
    assert_eq!(
        (told.view.state.as_str(), told.view.protocol_type.as_str()),
        ("Stable", "consumer")
    );
    let [member] = told.view.members.as_slice() else { panic!("{told:?}") };
    assert_eq!(member.assignments, [Assignment::new(TOPIC, vec![0, 1])]);
    assert!(!member.id.is_empty() && !member.host.starts_with('/'), "{member:?}");
    let offsets: Vec<_> = told.offsets.iter().map(|it| (it.at.partition, it.offset)).collect();
    assert_eq!(offsets, [(0, Some(0)), (1, None)], "what it is assigned is told, too");
    assert_eq!(told.lag(), None);
    let refused = admin.commit_offsets(&cluster, GROUP, &BTreeMap::from([(first(), 0)])).await;
    assert_eq!(code(&refused.unwrap_err()), "UnknownMemberId");
    let refused = admin.delete_group(&cluster, GROUP).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "Kafka refused DeleteGroups for {GROUP}: NonEmptyGroup (it has members; stop them first)"
        )
    );
    subject.leave_group(GROUP).await;
    let told = group(subject).await.unwrap();
    assert_eq!((told.view.state.as_str(), told.view.members.len()), ("Empty", 0));
}

/// A group whose coordinator does the assigning, which releases before 4.0 don't have.
async fn newer_groups_come_and_go(subject: &dyn Subject) {
    let (admin, cluster) = (subject.admin().groups(), subject.cluster());
    if !subject.join_newer_group(NEWER, TOPIC).await {
        return;
    }
    let told = subject
        .until("the group is stable", SOON, async || match called(subject, NEWER).await {
            Some(group) if group.view.state == "Stable" => Ok(group),
            other => Err(format!("{other:?}")),
        })
        .await;
    assert_eq!(told.view.protocol_type, "consumer");
    let [member] = told.view.members.as_slice() else { panic!("{told:?}") };
    assert_eq!(member.assignments, [Assignment::new(TOPIC, vec![0, 1, 2])]);
    assert!(!member.id.is_empty() && !member.host.starts_with('/'), "{member:?}");
    assert_eq!((told.offsets.len(), told.lag()), (3, None), "nothing is committed yet");
    assert_eq!(admin.list_groups(&cluster).await, Ok(vec![told]));
    let offsets = BTreeMap::from([(first(), 0)]);
    let refused = admin.commit_offsets(&cluster, NEWER, &offsets).await.unwrap_err();
    assert_eq!(code(&refused), "UnknownMemberId");
    let refused = admin.delete_group(&cluster, NEWER).await.unwrap_err();
    assert_eq!(code(&refused), "NonEmptyGroup");
    subject.leave_newer_group(NEWER).await;
    let told = called(subject, NEWER).await.unwrap();
    assert_eq!((told.view.state.as_str(), told.view.members.len()), ("Empty", 0));
    admin.commit_offsets(&cluster, NEWER, &offsets).await.unwrap();
    let told = called(subject, NEWER).await.unwrap();
    assert_eq!(told.offsets[0].offset, Some(0));
    assert!(told.lag().is_some_and(|lag| lag > 0), "{told:?}");
    assert_eq!(admin.delete_group(&cluster, NEWER).await, Ok(true));
    assert_eq!(called(subject, NEWER).await, None);
}

async fn quotas_are_kept(subject: &dyn Subject) {
    let (admin, cluster) = (subject.admin().quotas(), subject.through(1));
    assert_eq!(admin.list_quotas(&cluster).await, Ok(vec![]));
    let entity = |user: Option<Name>, client_id: Option<Name>| QuotaEntity { user, client_id };
    let (ada, reports) = (|| Some(Name::Of("ada".into())), || Some(Name::Of("reports".into())));
    let entities = [
        entity(None, Some(Name::Default)),
        entity(None, reports()),
        entity(Some(Name::Default), None),
        entity(ada(), None),
        entity(ada(), reports()),
    ];
    let limits = BTreeMap::from([
        (QuotaKey::ProducerByteRate, 1_048_576.0),
        (QuotaKey::RequestPercentage, 12.5),
    ]);
    let set = limits.iter().map(|(key, value)| (*key, Some(*value))).collect();
    for entity in &entities {
        admin.alter_quota(&cluster, entity, &set).await.unwrap();
    }
    let told = |entity: &QuotaEntity| Quota { entity: entity.clone(), limits: limits.clone() };
    let all: Vec<Quota> = entities.iter().map(told).collect();
    assert_eq!(admin.list_quotas(&cluster).await, Ok(all), "who took the write knows at once");
    let one = BTreeMap::from([(QuotaKey::ProducerByteRate, None)]);
    admin.alter_quota(&cluster, &entities[3], &one).await.unwrap();
    let left = admin.list_quotas(&cluster).await.unwrap();
    assert_eq!(left[3].limits, BTreeMap::from([(QuotaKey::RequestPercentage, 12.5)]));
    let zero = BTreeMap::from([(QuotaKey::ConsumerByteRate, Some(0.0))]);
    let refused = admin.alter_quota(&cluster, &entities[3], &zero).await.unwrap_err();
    assert_eq!(code(&refused), "InvalidRequest");
    let none = QuotaKey::ALL.into_iter().map(|key| (key, None)).collect();
    for entity in &entities {
        admin.alter_quota(&cluster, entity, &none).await.unwrap();
    }
    assert_eq!(admin.list_quotas(&cluster).await, Ok(vec![]));
}
