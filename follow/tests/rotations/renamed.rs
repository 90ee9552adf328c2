//! Files that are renamed when they are full, and a new one is begun.

use crate::server::{BROKER_OUT, SERVER_LOG, Server, line, lines, numbers};
use model::LogSource;
use std::fs;
use std::io::Write as _;

#[test]
fn no_line_is_missed_or_read_twice_over_many_rotations() {
    for is_newest_first in [true, false] {
        let mut server = Server::followed();
        for from in (0..300).step_by(10) {
            server.append(SERVER_LOG, &lines(from..from + 10, line));
            // At times it is looked at between two rotations, at times not.
            if from % 30 == 0 {
                server.read_files();
            }
            server.roll(SERVER_LOG, 4, is_newest_first);
        }
        server.settle();
        assert_eq!(server.messages(LogSource::Broker), numbers(0..300));
        assert_eq!(server.gaps, 0);
    }
}

#[test]
fn a_file_is_read_to_its_end_though_it_was_removed() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, &lines(0..10, line));
    server.read_files();
    server.append(SERVER_LOG, &lines(10..20, line));
    fs::remove_file(server.path(SERVER_LOG)).unwrap();
    server.append(SERVER_LOG, &lines(20..30, line));
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), numbers(0..30));
}

#[test]
fn files_that_were_removed_faster_than_they_were_read_leave_a_gap_event() {
    for is_newest_first in [true, false] {
        let mut server = Server::followed();
        server.append(SERVER_LOG, &lines(0..10, line));
        server.read_files();
        for from in (10..80).step_by(10) {
            server.roll(SERVER_LOG, 4, is_newest_first);
            server.append(SERVER_LOG, &lines(from..from + 10, line));
        }
        server.settle();
        let got = server.messages(LogSource::Broker);
        assert_eq!(got[..10], numbers(0..10));
        assert!(got[10].starts_with("lines of server.log may be missing here"), "{}", got[10]);
        assert_eq!(got[11..], numbers(30..80));
        assert_eq!(server.gaps, 1);
    }
}

#[test]
fn a_writer_that_ends_its_line_after_the_rename_is_waited_for() {
    let mut server = Server::followed();
    let mut writer = server.open(SERVER_LOG);
    writer.write_all(b"2026-11-19T11:59:00.000Z INFO in two").unwrap();
    server.read_files();
    fs::rename(server.path(SERVER_LOG), server.path("logs/server.log.1")).unwrap();
    server.read_files();
    writer.write_all(b" parts (kafka.Test)\n").unwrap();
    server.append(SERVER_LOG, &line("next"));
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), ["in two parts", "next"]);
}

#[test]
fn a_line_that_goes_on_in_the_next_file_is_one_line() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, "2026-11-19T11:59:00.000Z INFO in two");
    server.read_files();
    server.roll_up(SERVER_LOG, 4);
    server.read_files();
    server.append(SERVER_LOG, " parts");
    server.read_files();
    server.append(SERVER_LOG, &format!(" (kafka.Test)\n{}", line("next")));
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), ["in two parts", "next"]);
}

#[test]
fn a_line_that_a_crash_broke_off_is_no_part_of_the_next() {
    let mut server = Server::followed();
    server.append(SERVER_LOG, "2026-11-19T11:59:00.000Z INFO half");
    server.append(BROKER_OUT, "one");
    server.read_files();
    server.roll_down(SERVER_LOG, 4);
    server.append(SERVER_LOG, &line("next"));
    // As the agent makes a warm JVM the broker.
    fs::rename(server.path(BROKER_OUT), server.path("logs/broker.out.1")).unwrap();
    server.append("logs/successor.out", "two\n");
    fs::rename(server.path("logs/successor.out"), server.path(BROKER_OUT)).unwrap();
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), ["half", "next"]);
    assert_eq!(server.messages(LogSource::Output), ["one", "two"]);
}

#[test]
fn unread_lines_of_a_jvm_are_not_taken_for_equal_lines_before() {
    let mut server = Server::followed();
    let rotate = |server: &Server| {
        fs::rename(server.path(BROKER_OUT), server.path("logs/broker.out.1")).unwrap();
        server.append(BROKER_OUT, "");
    };
    server.append(BROKER_OUT, "the same words\n");
    server.settle();
    rotate(&server);
    server.settle();
    // The next JVM prints while the agent is away, and is followed by a third.
    server.kill();
    server.append(BROKER_OUT, "the same words\n");
    rotate(&server);
    server.settle();
    assert_eq!(server.messages(LogSource::Output), ["the same words", "the same words"]);
}

#[test]
fn jvms_that_print_the_same_lines_are_different_files() {
    let mut server = Server::followed();
    let words = "OpenJDK 64-Bit Server VM warning: the same words for each of them\n".repeat(100);
    for round in 0..5 {
        server.append("logs/successor.out", &words);
        if server.path(BROKER_OUT).exists() {
            fs::rename(server.path(BROKER_OUT), server.path("logs/broker.out.1")).unwrap();
        }
        fs::rename(server.path("logs/successor.out"), server.path(BROKER_OUT)).unwrap();
        if round % 2 == 1 {
            server.kill();
        }
        server.settle();
        assert_eq!(server.messages(LogSource::Output).len(), 100, "{round}");
    }
}
