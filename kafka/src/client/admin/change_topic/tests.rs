use super::*;
use crate::client::{PartitionView, Setting, SettingKind};
use std::collections::BTreeMap;

/// A topic with these leaders and settings.
fn topic(leaders: &[Option<i32>], settings: &[(&str, &str, SettingKind)]) -> Topic {
    let partition = |(index, leader): (i32, &Option<i32>)| PartitionView {
        index,
        leader: *leader,
        replicas: vec![1],
        in_sync: vec![1],
    };
    let setting = |(name, value, kind): &(&str, &str, SettingKind)| Setting {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
        kind: *kind,
    };
    Topic {
        name: "orders".into(),
        partitions: (0..).zip(leaders).map(partition).collect(),
        settings: settings.iter().map(setting).collect(),
    }
}

fn change(partitions: Option<i32>, settings: Option<&[(&str, &str)]>) -> TopicChange {
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let settings = settings.map(|it| it.iter().map(text).collect::<BTreeMap<_, _>>());
    TopicChange { partitions, settings }
}

const NUMBER: SettingKind = SettingKind::Number;
const TEXT: SettingKind = SettingKind::Text;

#[test]
fn what_is_spelled_differently_is_no_change() {
    let is = topic(
        &[Some(1)],
        &[
            ("cleanup.policy", "compact,delete", TEXT),
            ("min.cleanable.dirty.ratio", "1.0", NUMBER),
            ("retention.ms", "60000", NUMBER),
        ],
    );
    let asked = change(
        Some(1),
        Some(&[
            ("cleanup.policy", "compact, delete"),
            ("min.cleanable.dirty.ratio", "1"),
            ("retention.ms", "0060000"),
        ]),
    );
    let call = ChangeTopic { name: "orders", change: &asked };
    assert_eq!(call.changes(&is), Changes::new());
    assert_eq!(call.grow(&is), None);
    let other = change(None, Some(&[("cleanup.policy", "compact"), ("retention.ms", "60000")]));
    let call = ChangeTopic { name: "orders", change: &other };
    let policy = ("cleanup.policy".to_owned(), Some("compact".to_owned()));
    let ratio = ("min.cleanable.dirty.ratio".to_owned(), None);
    assert_eq!(call.changes(&is), Changes::from([policy, ratio]));
}

fn check(change: &TopicChange, before: &Topic, now: &Topic, expected: bool) {
    let call = ChangeTopic { name: "orders", change };
    let (settings, grow) = (call.changes(before), call.grow(before));
    let shows = Shows { call: &call, before, settings: &settings, grow };
    assert_eq!(shows.is_shown_by(now), expected, "{change:?}, and then {now:?}");
}

#[test]
fn settings_show_in_any_spelling() {
    let before = topic(&[Some(1)], &[("retention.ms", "5", NUMBER)]);
    let asked = change(None, Some(&[("min.cleanable.dirty.ratio", "1"), ("retention.ms", "007")]));
    let now = |settings: &[(&str, &str, SettingKind)], expected| {
        check(&asked, &before, &topic(&[None], settings), expected);
    };
    let ratio = ("min.cleanable.dirty.ratio", "1.0", NUMBER);
    now(&[("retention.ms", "5", NUMBER)], false);
    now(&[ratio, ("retention.ms", "5", NUMBER)], false);
    now(&[("retention.ms", "7", NUMBER)], false);
    now(&[ratio, ("retention.ms", "7", NUMBER)], true);
    now(&[ratio, ("retention.ms", "0x7", NUMBER)], true);
    now(&[ratio, ("retention.ms", "7", NUMBER), ("segment.ms", "1", NUMBER)], true);
    let none = change(None, Some(&[]));
    check(&none, &before, &before, false);
    check(&none, &before, &topic(&[Some(1)], &[]), true);
}

#[test]
fn only_new_partitions_are_waited_for() {
    let before = topic(&[None, Some(1)], &[]);
    let now = |wanted, leaders: &[Option<i32>], expected| {
        check(&change(Some(wanted), None), &before, &topic(leaders, &[]), expected);
    };
    now(2, &[None, Some(1)], true);
    now(3, &[None, Some(1)], false);
    now(3, &[None, Some(1), None], false);
    now(3, &[None, Some(1), Some(2)], true);
    now(3, &[None, Some(1), Some(2), Some(3)], true);
}
