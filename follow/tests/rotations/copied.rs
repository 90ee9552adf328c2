//! Files that are copied and emptied under the process that prints to them.

use crate::server::{AGENT_LOG, BROKER_OUT, Server, agent_line, lines, numbers};
use model::LogSource;

#[test]
fn the_rest_of_a_file_that_was_emptied_is_read_from_its_copy() {
    let mut server = Server::followed();
    for from in (0..300).step_by(30) {
        server.append(AGENT_LOG, &lines(from..from + 10, agent_line));
        server.read_files();
        server.append(AGENT_LOG, &lines(from + 10..from + 20, agent_line));
        server.copy_and_empty(AGENT_LOG);
        server.append(AGENT_LOG, &lines(from + 20..from + 30, agent_line));
    }
    server.settle();
    assert_eq!(server.messages(LogSource::Agent), numbers(0..300));
    assert_eq!(server.gaps, 0);
}

#[test]
fn a_file_that_was_emptied_and_is_as_long_again_is_noticed() {
    for is_away in [false, true] {
        let mut server = Server::followed();
        server.append(AGENT_LOG, &lines(0..20, agent_line));
        server.read_files();
        if is_away {
            server.kill();
        }
        server.append(AGENT_LOG, &lines(20..30, agent_line));
        server.copy_and_empty(AGENT_LOG);
        server.append(AGENT_LOG, &lines(30..90, agent_line));
        server.settle();
        assert_eq!(server.messages(LogSource::Agent), numbers(0..90));
        assert_eq!(server.gaps, 0);
    }
}

#[test]
fn a_line_goes_on_where_it_was_broken_off() {
    for is_away in [false, true] {
        let mut server = Server::followed();
        server.append(BROKER_OUT, "one\ntwo in pa");
        server.append(AGENT_LOG, "2026-11-19T11:59:00.000000Z  INFO agent::test: o");
        server.read_files();
        server.copy_and_empty(BROKER_OUT);
        server.copy_and_empty(AGENT_LOG);
        if is_away {
            server.kill();
        }
        server.append(BROKER_OUT, "rts\nthree\n");
        server.append(AGENT_LOG, "ne\n");
        server.settle();
        assert_eq!(server.messages(LogSource::Output), ["one", "two in parts", "three"]);
        assert_eq!(server.messages(LogSource::Agent), ["one"]);
    }
}

#[test]
fn what_was_read_between_copy_and_emptying_is_not_read_again() {
    for is_away in [false, true] {
        let mut server = Server::followed();
        server.append(AGENT_LOG, &lines(0..100, agent_line));
        server.read_files();
        server.copy(AGENT_LOG);
        server.append(AGENT_LOG, &lines(100..101, agent_line));
        server.settle();
        if is_away {
            server.kill();
        }
        server.empty(AGENT_LOG);
        server.append(AGENT_LOG, &lines(101..102, agent_line));
        server.settle();
        assert_eq!(server.messages(LogSource::Agent), numbers(0..102));
        assert_eq!(server.gaps, 0);
    }
}

#[test]
fn a_copy_that_is_being_made_is_not_read_before_the_file() {
    let mut server = Server::followed();
    server.append(AGENT_LOG, &lines(0..100, agent_line));
    server.settle();
    server.append(AGENT_LOG, &lines(100..200, agent_line));
    server.copy_and_empty(AGENT_LOG);
    server.append(AGENT_LOG, &lines(200..300, agent_line));
    // The next copy is made while the rest of the one before is read.
    server.copy(AGENT_LOG);
    server.settle();
    let got = server.messages(LogSource::Agent);
    let rest = got.iter().position(|message| message == "200").unwrap();
    assert_eq!(got[rest..], numbers(200..300));
    server.empty(AGENT_LOG);
    server.append(AGENT_LOG, &lines(300..310, agent_line));
    server.settle();
    assert_eq!(server.messages(LogSource::Agent), numbers(300..310));
}

#[test]
fn a_file_that_was_emptied_without_a_copy_leaves_a_gap_event() {
    let mut server = Server::followed();
    server.append(AGENT_LOG, &lines(0..10, agent_line));
    server.settle();
    server.empty(AGENT_LOG);
    server.append(AGENT_LOG, &lines(10..12, agent_line));
    server.settle();
    let got = server.messages(LogSource::Agent);
    assert_eq!(got[..10], numbers(0..10));
    assert!(got[10].starts_with("lines of agent.log may be missing here"), "{}", got[10]);
    assert_eq!(got[11..], numbers(10..12));
    assert_eq!(server.gaps, 1);
}
