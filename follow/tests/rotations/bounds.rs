//! What is held back, cut and dropped.

use crate::server::{AGENT_LOG, READER, SERVER_LOG, Server, agent_line, line, lines, numbers};
use follow::Limits;
use model::LogSource;
use std::fs;

#[test]
fn an_event_is_whole_when_nothing_came_for_a_second() {
    let mut server = Server::followed();
    let mut check = |text: &str, seconds, expected: usize| {
        server.append(SERVER_LOG, text);
        server.read_files();
        server.wait(seconds);
        server.read_files();
        let events = server.batch(10).events;
        assert_eq!(events.len(), expected, "after {text:?}: {events:?}");
    };
    check("2026-11-19T11:59:00.000Z ERROR slow (a.b)\n", 0, 0);
    check("\tat first.Line\n", 0, 0);
    check("\tat second.Line\n", 1, 1);
    // In the midst of a line a little longer.
    check("2026-11-19T11:59:00.000Z ERROR half", 4, 1);
    check("", 2, 2);
    assert_eq!(server.batch(1).events[0].message, "slow\n\tat first.Line\n\tat second.Line");
    // A clock that is set back holds up nothing.
    let mut server = Server::followed();
    server.append(SERVER_LOG, &line("one"));
    server.read_files();
    server.wait(-3600);
    server.read_files();
    server.wait(1);
    server.read_files();
    assert_eq!(server.batch(10).events.len(), 1);
}

#[test]
fn a_process_that_is_killed_in_the_midst_of_an_event_reads_it_again() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, &format!("{}{}\tat first.Line\n", line("one"), line("two")));
    server.read_files();
    server.take(10);
    server.kill();
    server.append(SERVER_LOG, "\tat second.Line\n");
    server.settle();
    let two = "two\n\tat first.Line\n\tat second.Line";
    assert_eq!(server.messages(LogSource::Broker), ["one", two]);
}

#[test]
fn a_batch_that_was_not_acknowledged_comes_again_and_nothing_else() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, &lines(0..100, line));
    server.settle();
    server.append(SERVER_LOG, &lines(100..200, line));
    server.read_files();
    let sent = server.batch(30);
    server.kill();
    assert_eq!(server.batch(30), sent);
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), numbers(0..200));
}

#[test]
fn a_destination_that_is_away_loses_the_oldest_lines_and_no_other_does() {
    let limits = Limits { spool: 64 << 10, segment: 8 << 10, event: 256 << 10 };
    let mut server = Server::with_limits(limits);
    server.tail().set_readers(&[READER, 8].into()).unwrap();
    for from in (0..2000).step_by(50) {
        server.append(SERVER_LOG, &lines(from..from + 50, line));
        server.read_files();
        server.take(1000);
    }
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), numbers(0..2000));
    assert_eq!(server.tail().dropped(READER), 0);
    let dropped = usize::try_from(server.tail().dropped(8)).unwrap();
    assert!((1..2000).contains(&dropped), "{dropped}");
    let sizes = fs::read_dir(server.spool()).unwrap();
    let size: u64 = sizes.map(|it| it.unwrap().metadata().unwrap().len()).sum();
    assert!((40 << 10..=64 << 10).contains(&size), "{size}");
    server.kill();
    let rest = server.tail().read(8, 10_000, 10 << 20).unwrap();
    let messages: Vec<_> = rest.events.into_iter().map(|event| event.message).collect();
    assert_eq!(messages, numbers(dropped..2000));
    assert_eq!(server.tail().dropped(8), dropped as u64);
}

#[test]
fn what_can_not_be_kept_waits_in_its_file() {
    let limits = Limits { segment: 1 << 10, ..<_>::default() };
    let mut server = Server::with_limits(limits);
    server.follow();
    server.append(SERVER_LOG, &lines(0..60, line));
    server.read_files();
    // A segment is full now and the next one can't be made.
    fs::rename(server.spool(), server.path("away")).unwrap();
    for from in (60..300).step_by(60) {
        server.append(SERVER_LOG, &lines(from..from + 60, line));
        let turn = server.turn();
        assert!(!turn.has_more);
        let fault = turn.fault.map(|fault| fault.to_string()).unwrap_or_default();
        let words = "log lines can't be kept for their destinations in ";
        assert!(fault.starts_with(words), "{fault}");
    }
    fs::rename(server.path("away"), server.spool()).unwrap();
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), numbers(0..300));
}

#[test]
fn a_flood_in_one_log_holds_up_no_other() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, &lines(0..20_000, line));
    server.append(AGENT_LOG, &(agent_line("beside") + &agent_line("it")));
    let turn = server.turn();
    assert!(turn.has_more);
    assert!(turn.events < 10_000, "{turn:?}");
    let events = server.batch(10_000).events;
    assert!(events.iter().any(|event| event.source == LogSource::Agent));
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), numbers(0..20_000));
}
