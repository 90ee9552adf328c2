//! What people do with topics, rights and settings, on both clusters.

use crate::checks::code;
use crate::subject::{SOON, Subject};
use kafka::client::{
    Acl, Changes, Created, Error, NewTopic, Operation, PatternType, Permission, ResourceType,
    Setting, SettingKind, Topic, TopicChange,
};
use model::Secret;
use std::collections::BTreeMap;

pub async fn all(subject: &dyn Subject) {
    a_topic_is_changed_wholly_or_not_at_all(subject).await;
    values_are_told_in_one_spelling(subject).await;
    what_nobody_could_make_is_refused(subject).await;
    one_right_goes_and_the_others_stay(subject).await;
    settings_of_all_brokers_change_while_they_run(subject).await;
}

fn settings(given: &[(&str, &str)]) -> BTreeMap<String, String> {
    given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn new(name: &str, partitions: i32, replicas: i16, given: &[(&str, &str)]) -> NewTopic {
    let settings = settings(given).into_iter().collect();
    NewTopic { name: name.into(), partitions, replicas, settings }
}

fn setting(name: &str, value: &str, kind: SettingKind) -> Setting {
    Setting { name: name.into(), value: value.into(), kind }
}

async fn describe(subject: &dyn Subject, name: &str) -> Option<Topic> {
    subject.admin().topics().describe_topic(&subject.cluster(), name).await.unwrap()
}

async fn a_topic_is_changed_wholly_or_not_at_all(subject: &dyn Subject) {
    let (admin, cluster) = (subject.admin(), subject.cluster());
    let topics = admin.topics();
    assert_eq!(describe(subject, "changing").await, None);
    let first = new("changing", 2, 3, &[("retention.ms", "60000"), ("cleanup.policy", "compact")]);
    assert_eq!(admin.create_topic(&cluster, &first).await, Ok(Created::New));
    assert_eq!(admin.create_topic(&cluster, &first).await, Ok(Created::AlreadyThere));
    let made = describe(subject, "changing").await.unwrap();
    assert_eq!((made.partitions.len(), made.replicas()), (2, 3));
    let of_policy = setting("cleanup.policy", "compact", SettingKind::Text);
    assert_eq!(made.settings, [of_policy, setting("retention.ms", "60000", SettingKind::Number)]);
    let listed = topics.list_topics(&cluster).await.unwrap();
    let names: Vec<&str> = listed.iter().map(|topic| &*topic.name).collect();
    assert!(names.is_sorted() && names.contains(&"changing"), "{names:?}");

    let counted = topics.count_replicas(&cluster).await.unwrap();
    assert_eq!(counted.get("changing"), Some(&6), "{counted:?}");

    let change = TopicChange {
        partitions: Some(3),
        settings: Some(settings(&[("unclean.leader.election.enable", "false")])),
    };
    // The second time it is so already.
    for _ in 0..2 {
        assert_eq!(topics.change_topic(&cluster, "changing", &change).await, Ok(true));
        let changed = describe(subject, "changing").await.unwrap();
        assert_eq!(changed.partitions.len(), 3);
        let left = setting("unclean.leader.election.enable", "false", SettingKind::Flag);
        assert_eq!(changed.settings, [left], "what is not named any more is gone");
    }
    let before = describe(subject, "changing").await;
    for (partitions, given, refusal) in [
        (4, ("retention.ms", "soon"), "InvalidConfig"),
        (4, ("colour", "red"), "InvalidConfig"),
        (1, ("retention.ms", "60000"), "InvalidPartitions"),
    ] {
        let change =
            TopicChange { partitions: Some(partitions), settings: Some(settings(&[given])) };
        let refused = topics.change_topic(&cluster, "changing", &change).await.unwrap_err();
        assert_eq!(code(&refused), refusal, "{refused}");
        assert_eq!(describe(subject, "changing").await, before, "{refused}");
    }
    assert_eq!(topics.change_topic(&cluster, "nothing", &change).await, Ok(false));
    assert_eq!(topics.delete_topic(&cluster, "changing").await, Ok(true));
    assert_eq!(describe(subject, "changing").await, None);
    assert_eq!(topics.delete_topic(&cluster, "changing").await, Ok(false));
}

async fn values_are_told_in_one_spelling(subject: &dyn Subject) {
    let (admin, cluster) = (subject.admin(), subject.cluster());
    let given = [
        ("cleanup.policy", "compact, delete"),
        ("min.cleanable.dirty.ratio", "1"),
        ("retention.ms", " 0060000"),
        ("unclean.leader.election.enable", "False"),
    ];
    let told = [
        setting("cleanup.policy", "compact,delete", SettingKind::Text),
        setting("min.cleanable.dirty.ratio", "1.0", SettingKind::Number),
        setting("retention.ms", "60000", SettingKind::Number),
        setting("unclean.leader.election.enable", "false", SettingKind::Flag),
    ];
    let made = admin.create_topic(&cluster, &new("spelled", 1, 1, &given)).await;
    assert_eq!(made, Ok(Created::New));
    assert_eq!(describe(subject, "spelled").await.unwrap().settings, told);
    // From nothing, and then from what is so already.
    for before in [&[][..], &given[..]] {
        for given in [before, &given[..]] {
            let change = TopicChange { partitions: Some(1), settings: Some(settings(given)) };
            let changed = admin.topics().change_topic(&cluster, "spelled", &change).await;
            assert_eq!(changed, Ok(true), "{given:?}");
        }
        assert_eq!(describe(subject, "spelled").await.unwrap().settings, told);
    }
    assert_eq!(admin.topics().delete_topic(&cluster, "spelled").await, Ok(true));
}

/// While one of its partitions has no leader.
pub async fn what_is_there_is_not_waited_for(subject: &dyn Subject, name: &str) {
    let (admin, cluster) = (subject.admin(), subject.cluster());
    let there = describe(subject, name).await.unwrap();
    assert!(there.partitions.iter().any(|partition| partition.leader.is_none()), "{there:?}");
    let partitions = i32::try_from(there.partitions.len()).unwrap();
    let again = new(name, partitions, 1, &[]);
    let made = subject.until("brokers know the controller", SOON, async || {
        let made = admin.create_topic(&cluster, &again).await;
        made.map_err(|error| error.to_string())
    });
    assert_eq!(made.await, Created::AlreadyThere);
    let before: Vec<(&str, &str)> =
        there.settings.iter().map(|it| (it.name.as_str(), it.value.as_str())).collect();
    let more = [&before[..], &[("delete.retention.ms", "60000")]].concat();
    for given in [&more, &before] {
        let change = TopicChange { partitions: Some(partitions), settings: Some(settings(given)) };
        assert_eq!(admin.topics().change_topic(&cluster, name, &change).await, Ok(true));
    }
    assert_eq!(describe(subject, name).await.unwrap().settings, there.settings);
}

async fn what_nobody_could_make_is_refused(subject: &dyn Subject) {
    for (topic, refusal) in [
        (new("a b", 1, 1, &[]), "InvalidTopicException"),
        (new("", 1, 1, &[]), "InvalidTopicException"),
        (new("fine", 0, 1, &[]), "InvalidPartitions"),
        (new("fine", 1, 4, &[]), "InvalidReplicationFactor"),
        (new("fine", 1, 1, &[("colour", "red")]), "InvalidConfig"),
        (new("fine", 1, 1, &[("retention.ms", "soon")]), "InvalidConfig"),
    ] {
        let refused = subject.admin().create_topic(&subject.cluster(), &topic).await.unwrap_err();
        assert_eq!(code(&refused), refusal, "{topic:?}: {refused}");
    }
    assert_eq!(describe(subject, "fine").await, None);
}

async fn one_right_goes_and_the_others_stay(subject: &dyn Subject) {
    let acl = |operation| Acl {
        resource_type: ResourceType::Group,
        pattern: "readers".into(),
        pattern_type: PatternType::Literal,
        principal: "User:eve".into(),
        operation,
        permission: Permission::Allow,
    };
    let (admin, cluster) = (subject.admin(), subject.through(1));
    let [read, describe] = [acl(Operation::Read), acl(Operation::Describe)];
    admin.add_acls(&cluster, &[read.clone(), describe.clone()]).await.unwrap();
    let eves = async || {
        let mut all = admin.users().list_acls(&cluster).await.unwrap();
        all.retain(|acl| acl.principal == "User:eve");
        all
    };
    assert_eq!(eves().await.len(), 2);
    for _ in 0..2 {
        admin.users().remove_acl(&cluster, &read).await.unwrap();
        assert_eq!(eves().await, std::slice::from_ref(&describe));
    }
    admin.remove_acls(&cluster, "User:eve").await.unwrap();

    let word = Secret::new("word");
    for user in ["eve", "bob"] {
        admin.set_scram_user(&cluster, user, &word).await.unwrap();
    }
    let there = admin.users().list_scram_users(&cluster).await.unwrap();
    assert!(there.is_sorted() && there.contains(&"bob".into()) && there.contains(&"eve".into()));
    for user in ["eve", "bob"] {
        admin.remove_scram_user(&cluster, user).await.unwrap();
    }
}

async fn settings_of_all_brokers_change_while_they_run(subject: &dyn Subject) {
    let (admin, cluster) = (subject.admin(), subject.cluster());
    let brokers = admin.settings();
    let change = |name: &str, value: Option<&str>| {
        Changes::from([(name.to_owned(), value.map(str::to_owned))])
    };
    let retention = change("log.retention.ms", Some("7200000"));
    brokers.check_settings(&cluster, &retention).await.unwrap();
    let is_set = async |node: i32| {
        let all = brokers.describe_settings(&subject.through(node)).await.unwrap();
        all.contains(&setting("log.retention.ms", "7200000", SettingKind::Number))
    };
    assert!(!is_set(1).await, "it was only tried");
    for _ in 0..2 {
        brokers.change_settings(&cluster, &retention).await.unwrap();
    }
    for node in crate::subject::NODES {
        subject
            .until("every broker has it", SOON, async || {
                if is_set(node).await { Ok(()) } else { Err(format!("{node} has it not")) }
            })
            .await;
    }
    let mut wrong = retention.clone();
    wrong.insert("num.io.threads".into(), Some("many".into()));
    let refused = brokers.check_settings(&cluster, &wrong).await.unwrap_err();
    assert!(matches!(refused, Error::Kafka { .. }), "{refused}");
    brokers.change_settings(&cluster, &change("log.retention.ms", None)).await.unwrap();
    assert!(!is_set(1).await);
}
