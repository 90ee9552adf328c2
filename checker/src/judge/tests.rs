//! The judge proves itself: a history in which all is well gives nothing, and
//! one with a single thing wrong gives exactly that.

mod story;

use crate::history::Recording;
use crate::{Event, History, Logs, Marked, RecordId, Report, Text, Wrong, judge};
use story::{ABORTED, COMMITTED, IDEMPOTENT, Story, TRANSACTIONAL, UNSURE, record};

/// Tells the story with one thing wrong, and expects that to be found.
fn check(name: &str, plant: impl Fn(&mut Story), expected: (Wrong, Option<RecordId>)) {
    let mut story = Story::new();
    plant(&mut story);
    let report = story.judge();
    let (wrong, id) = expected;
    assert_eq!(report.findings.counts().collect::<Vec<_>>(), [(wrong, 1)], "{name}:\n{report}");
    let [finding] = report.findings.first() else { panic!("{name}: one is told") };
    assert_eq!((finding.wrong, finding.record), (wrong, id), "{name}:\n{report}");
    assert!(!report.is_clean(), "{name}");
    assert_eq!(report.is_true_to_its_word(), wrong == Wrong::Failed, "{name}");
}

#[test]
fn where_all_is_well_nothing_is_found() {
    let report = Story::new().judge();
    assert!(report.is_clean() && report.is_true_to_its_word() && report.whole, "{report}");
    assert_eq!(report.findings.first(), []);
    assert_eq!((report.sent, report.acked, report.failed), (24, 24, 0));
    assert_eq!((report.committed, report.aborted, report.unsure), (1, 1, 1));
    assert!(report.to_string().starts_with("Clean: 24 acknowledged"), "{report}");
}

#[test]
fn each_thing_that_is_wrong_is_found_alone() {
    let id = record(IDEMPOTENT, 4);
    let committed = record(TRANSACTIONAL, COMMITTED.start);
    // The last ones of their partition, so that the order stays.
    let late = record(TRANSACTIONAL, COMMITTED.start + 2);
    let unsure = record(TRANSACTIONAL, UNSURE.start + 2);
    let aborted = record(TRANSACTIONAL, ABORTED.start);
    let of = |wrong, id| (wrong, Some(id));
    check("lost", |it| it.everywhere(|log| log.remove(id)), of(Wrong::Lost, id));
    check(
        "lost of a transaction",
        |it| {
            it.everywhere(|log| log.remove(committed));
            it.unsee(committed);
        },
        of(Wrong::Lost, committed),
    );
    check("duplicated", |it| it.everywhere(|log| log.again(id)), of(Wrong::Duplicated, id));
    check(
        "reordered",
        |it| it.everywhere(|log| log.swap(id, record(IDEMPOTENT, 6))),
        of(Wrong::Reordered, id),
    );
    check(
        "visible in the log",
        Story::abort_told_of_committed,
        of(Wrong::AbortedVisible, committed),
    );
    check("visible to the group", |it| it.see(aborted), of(Wrong::AbortedVisible, aborted));
    check(
        "invisible",
        |it| it.everywhere(|log| log.mark_of(late, Marked::Abort)),
        of(Wrong::CommittedInvisible, late),
    );
    check(
        "torn",
        |it| it.everywhere(|log| log.mark_of(unsure, Marked::Abort)),
        of(Wrong::Torn, unsure),
    );
    check("unseen", |it| it.unsee(id), of(Wrong::Unseen, id));
    check("failed", |it| it.fail(id), of(Wrong::Failed, id));
}

#[test]
fn each_thing_that_is_wrong_of_a_replica_is_found_alone() {
    let id = record(IDEMPOTENT, 4);
    check("truncated follower", |it| it.replica(0, 2).truncate(), (Wrong::Truncated, None));
    check("truncated leader", |it| it.replica(0, 1).truncate(), (Wrong::Truncated, None));
    check("a hole in a follower", |it| it.replica(0, 3).remove(id), (Wrong::Differs, None));
    let other = Marked::Data(Text::Stranger);
    check("another record", |it| it.replica(0, 2).replace(id, other), (Wrong::Differs, None));
    check("unread", |it| it.replica(1, 3).unread(), (Wrong::Unread, None));

    let mut story = Story::new();
    story.replica(0, 1).remove(id);
    let report = story.judge();
    let differs = [(Wrong::Differs, 2)];
    assert_eq!(report.findings.counts().collect::<Vec<_>>(), differs, "both followers have it");
}

/// What a cluster did not promise is not held against it.
#[test]
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
fn what_was_not_promised_is_no_finding() {
    let id = record(IDEMPOTENT, 4);
    let clean = |name: &str, plant: &dyn Fn(&mut Story)| {
        let mut story = Story::new();
        plant(&mut story);
        let report = story.judge();
        assert!(report.is_clean(), "{name}:\n{report}");
    };
    clean("no answer, and it is not there", &|it| {
        it.forget_answer(id);
        it.everywhere(|log| log.remove(id));
        it.unsee(id);
    });
    clean("no answer, and it is there", &|it| it.forget_answer(id));
    clean("an aborted record that nobody kept", &|it| {
        it.everywhere(|log| log.remove(record(TRANSACTIONAL, ABORTED.start)));
    });
    clean("nobody knows how it ended, and it is aborted whole", &|it| {
        it.everywhere(|log| log.mark_all_of(UNSURE, Marked::Abort));
        UNSURE.for_each(|number| it.unsee(record(TRANSACTIONAL, number)));
    });
    clean("a stranger's record", &|it| it.everywhere(|log| log.stranger()));
    clean("the group was given one twice", &|it| it.see(id));
}

#[test]
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
fn a_topic_that_was_made_anew_has_lost_everything() {
    let mut story = Story::new();
    story.everywhere(|log| log.clear());
    let report = story.judge();
    // Twelve of the first client, and what one transaction committed.
    assert_eq!(report.count(Wrong::Lost), 16, "{report}");
    assert_eq!(report.count(Wrong::Truncated), 6, "{report}");
    let gone = judge(&story.history, &Logs::default());
    assert_eq!(gone.count(Wrong::Lost), 16, "{gone}");
}

#[test]
fn the_worst_ack_is_named_with_its_moment() {
    let mut story = Story::new();
    let id = record(IDEMPOTENT, 4);
    story.delay(id, 2_900_000);
    let Report { send_to_ack, clients, .. } = story.judge();
    let times = send_to_ack.unwrap();
    assert_eq!((times.worst, times.count), (id, 24));
    assert!((times.worst_ms - 2_901.0).abs() < 1.5 && times.p50_ms < 2.0, "{times:?}");
    assert_eq!(clients[IDEMPOTENT].send_to_ack.unwrap().worst, id);
    assert_ne!(clients[TRANSACTIONAL].send_to_ack.unwrap().worst, id);
}

#[test]
fn of_a_client_that_was_told_nothing_nothing_is_known() {
    let mut story = Story::new();
    let is_ack =
        |event: &Event| matches!(event, Event::Acked { id, .. } if id.client == TRANSACTIONAL);
    story.history.events.retain(|event| !is_ack(event));
    let report = story.judge();
    assert!(report.is_clean() && !report.whole, "{report}");
    assert!(report.to_string().starts_with("NOT all checked: "), "{report}");
}

/// The same through the file that a run writes, whole and cut off.
#[test]
fn a_history_is_judged_alike_from_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history");
    let mut story = Story::new();
    let id = record(IDEMPOTENT, 8);
    story.everywhere(|log| log.remove(id));
    let (recorder, recording) = Recording::start(story.history.run.clone(), Some(&path)).unwrap();
    story.history.events.iter().cloned().for_each(|event| recorder.record(event));
    drop(recorder);
    let kept = recording.finish().unwrap();
    let read = History::load(&path).unwrap();
    assert_eq!((&kept, &read), (&story.history, &story.history));
    let report = judge(&read, &story.logs);
    assert_eq!(report, story.judge());
    assert_eq!(report.findings.first()[0].record, Some(id));

    // Killed right after the ack of the record before: of this one it never
    // heard, and of the group's end neither.
    let text = std::fs::read_to_string(&path).unwrap();
    let before = text.find(&format!("{{\"sent\":{{\"id\":{{\"client\":0,\"number\":{}", id.number));
    std::fs::write(&path, &text[..before.unwrap() + 9]).unwrap();
    let cut = History::load(&path).unwrap();
    assert!(!cut.events.iter().any(|event| matches!(event, Event::Ended { .. })));
    let report = judge(&cut, &story.logs);
    assert!(report.is_clean() && !report.whole, "{report}");
}

#[test]
fn a_report_is_json() {
    let mut story = Story::new();
    story.fail(record(IDEMPOTENT, 4));
    let json = serde_json::to_value(story.judge()).unwrap();
    assert_eq!(json["failed"], 1);
    assert_eq!(json["findings"]["counts"]["failed"], 1);
    assert_eq!(json["findings"]["first"][0]["record"]["number"], 4);
    assert!(json["send_to_ack"]["worst_ms"].is_number(), "{json}");
}
