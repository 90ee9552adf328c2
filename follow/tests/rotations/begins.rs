//! Where following begins and ends.

use crate::server::{
    AGENT_LOG, BROKER_OUT, GC_LOG, READER, SERVER_LOG, Server, agent_line, line, lines, numbers,
};
use model::LogSource;
use std::fs;

#[test]
fn the_first_destination_gets_what_is_written_from_then_on() {
    let mut server = Server::new();
    server.append(SERVER_LOG, &line("old"));
    server.roll_down(SERVER_LOG, 4);
    server.append(SERVER_LOG, &line("older than the destination"));
    server.append(SERVER_LOG, "2026-11-19T11:59:00.000Z INFO just be");
    server.read_files();
    assert!(!server.path("spool/000000000000.spool").exists(), "no destination");
    server.follow();
    server.append(SERVER_LOG, "ing written (kafka.Test)\n");
    server.append(SERVER_LOG, &line("new"));
    // A file that was not there is read from its beginning.
    server.append(GC_LOG, "[0.1s][info][gc] Using Serial\n");
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), ["just being written", "new"]);
    assert_eq!(server.messages(LogSource::GarbageCollector), ["Using Serial"]);
}

#[test]
fn the_last_destination_takes_everything_along() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, &line("one"));
    server.settle();
    server.append(SERVER_LOG, &line("two"));
    server.read_files();
    server.tail().set_readers(&[].into()).unwrap();
    assert_eq!(fs::read_dir(server.spool()).unwrap().count(), 0);
    server.append(SERVER_LOG, &line("three"));
    server.read_files();
    server.kill();
    server.tail().set_readers(&[8].into()).unwrap();
    server.append(SERVER_LOG, &line("four"));
    server.wait(2);
    server.read_files();
    server.wait(2);
    server.read_files();
    let batch = server.tail().read(8, 10, 1000).unwrap();
    let messages: Vec<_> = batch.events.iter().map(|event| &*event.message).collect();
    assert_eq!(messages, ["four"]);
    assert_eq!(server.tail().read(READER, 10, 1000).unwrap().events, []);
}

#[test]
fn an_agent_that_was_away_reads_what_was_rotated_meanwhile() {
    for is_newest_first in [true, false] {
        let mut server = Server::followed();
        server.append(SERVER_LOG, &lines(0..10, line));
        server.settle();
        server.append(SERVER_LOG, &lines(10..20, line));
        server.kill();
        for from in [20, 30, 40, 50] {
            server.roll(SERVER_LOG, 4, is_newest_first);
            server.append(SERVER_LOG, &lines(from..from + 10, line));
        }
        server.settle();
        assert_eq!(server.messages(LogSource::Broker), numbers(0..60));
        // It knows which it has read, also when it starts again.
        server.kill();
        server.append(SERVER_LOG, &lines(60..61, line));
        server.settle();
        server.roll(SERVER_LOG, 4, is_newest_first);
        server.append(SERVER_LOG, &lines(61..62, line));
        server.settle();
        assert_eq!(server.messages(LogSource::Broker), numbers(60..62));
        assert_eq!(server.gaps, 0);
    }
}

#[test]
fn an_agent_that_was_stopped_too_long_adds_an_event_for_missing_lines() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, &lines(0..10, line));
    server.settle();
    server.kill();
    for from in (10..80).step_by(10) {
        server.append(SERVER_LOG, &lines(from..from + 10, line));
        server.roll_down(SERVER_LOG, 4);
    }
    server.settle();
    let got = server.messages(LogSource::Broker);
    assert_eq!(got[..10], numbers(0..10));
    assert!(got[10].starts_with("lines of server.log may be missing here"), "{}", got[10]);
    assert_eq!(got[11..], numbers(40..80));
    assert_eq!(server.gaps, 1);
}

#[test]
fn a_log_whose_end_was_not_found_yet_is_not_read_from_its_beginning_after_a_kill() {
    let mut server = Server::new();
    server.append(SERVER_LOG, &line("old"));
    // Its directory is a link, which is not followed.
    fs::rename(server.path("logs"), server.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(server.path("elsewhere"), server.path("logs")).unwrap();
    server.tail().set_readers(&[READER].into()).unwrap_err();
    server.append(AGENT_LOG, &agent_line("new"));
    server.turn();
    server.kill();
    fs::remove_file(server.path("logs")).unwrap();
    fs::rename(server.path("elsewhere"), server.path("logs")).unwrap();
    server.read_files();
    server.append(SERVER_LOG, &line("new"));
    server.settle();
    assert_eq!(server.messages(LogSource::Agent), ["new"]);
    assert_eq!(server.messages(LogSource::Broker), ["new"]);
}

#[test]
fn each_log_is_followed_by_itself() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, &line("broker"));
    server.append(BROKER_OUT, "output\n");
    server.append(GC_LOG, "[0.1s][info][gc] collector\n");
    server.append(AGENT_LOG, "2026-11-19T11:59:00.000000Z  WARN agent::link: agent\n");
    server.settle();
    let mut got: Vec<_> = server.got.iter().map(|it| (&*it.logger, &*it.message)).collect();
    got.sort_unstable();
    let expected =
        [("", "output"), ("agent::link", "agent"), ("gc", "collector"), ("kafka.Test", "broker")];
    assert_eq!(got, expected);
}

#[test]
fn a_link_is_not_followed_and_holds_up_no_other_log() {
    let mut server = Server::followed();
    fs::write(server.path("secret"), line("secret")).unwrap();
    std::os::unix::fs::symlink(server.path("secret"), server.path(SERVER_LOG)).unwrap();
    server.append(BROKER_OUT, "output\n");
    server.settle();
    assert_eq!(server.messages(LogSource::Output), ["output"]);
    assert_eq!(server.messages(LogSource::Broker), [""; 0]);
    // A directory on the way to it that is one.
    fs::rename(server.path("logs"), server.path("elsewhere")).unwrap();
    fs::write(server.path("elsewhere/gc.log"), "[0.1s][info][gc] secret\n").unwrap();
    std::os::unix::fs::symlink(server.path("elsewhere"), server.path("logs")).unwrap();
    server.append(AGENT_LOG, "2026-11-19T11:59:00.000000Z  WARN agent::link: agent\n");
    let turn = server.turn();
    let fault = turn.fault.unwrap().to_string();
    assert!(fault.contains("gc.log can't be read, so its lines wait: "), "{fault}");
    server.wait(2);
    server.turn();
    server.take(10);
    assert_eq!(server.messages(LogSource::Agent), ["agent"]);
    assert_eq!(server.messages(LogSource::GarbageCollector), [""; 0]);
}
