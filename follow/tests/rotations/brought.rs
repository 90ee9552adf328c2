//! Logs that were brought to another disk while the agent was away.

use crate::server::{AGENT_LOG, SERVER_LOG, Server, agent_line, line, lines, numbers};
use model::LogSource;

#[test]
fn a_server_whose_files_were_brought_elsewhere_is_followed_on() {
    let mut server = Server::followed();
    for from in (0..40).step_by(10) {
        server.append(SERVER_LOG, &lines(from..from + 10, line));
        server.append(AGENT_LOG, &lines(from..from + 10, agent_line));
        server.settle();
        if from < 30 {
            server.roll_down(SERVER_LOG, 4);
            server.copy_and_empty(AGENT_LOG);
        }
    }
    server.bring_elsewhere();
    server.append(SERVER_LOG, &lines(40..50, line));
    server.append(AGENT_LOG, &lines(40..50, agent_line));
    server.settle();
    // Once the next file is begun it has to be known which of the others were read.
    server.roll_down(SERVER_LOG, 4);
    server.copy_and_empty(AGENT_LOG);
    server.append(SERVER_LOG, &lines(50..60, line));
    server.append(AGENT_LOG, &lines(50..60, agent_line));
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), numbers(0..60));
    assert_eq!(server.messages(LogSource::Agent), numbers(0..60));
    assert_eq!(server.gaps, 0);
}

#[test]
fn files_that_were_brought_elsewhere_right_after_a_rotation_are_not_read_again() {
    let mut server = Server::followed();
    for from in (0..30).step_by(10) {
        server.append(SERVER_LOG, &lines(from..from + 10, line));
        server.settle();
        server.roll_up(SERVER_LOG, 4);
    }
    server.settle();
    server.bring_elsewhere();
    server.append(SERVER_LOG, &lines(30..40, line));
    server.settle();
    assert_eq!(server.messages(LogSource::Broker), numbers(0..40));
    assert_eq!(server.gaps, 0);
}
