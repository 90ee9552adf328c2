//! What a broker wrote about its end, for a person who asks why it ended.
//!
//! Only what this start wrote counts: an old error would mislead. A broker that
//! fails goes on to log its shutdown at length, so the last lines are the least
//! telling: first comes what was printed, then what was logged as an error.

use crate::place::Place;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use wire::agent::Loading;

const LINES: usize = 12;
/// After the line of an error, its message and cause.
const AFTER_ERROR: usize = 2;
/// The whole log of a start that fails, in most cases.
const WINDOW: u64 = 256 * 1024;
/// Longer lines say nothing more.
const WIDTH: usize = 300;

/// How long the files were when the broker started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    log: u64,
    output: u64,
}

impl Marks {
    pub fn now(place: &Place) -> Self {
        Self { log: length(&place.server_log()), output: length(&place.broker_output()) }
    }

    /// The reasons, as far as they can be told.
    pub fn tail(self, place: &Place) -> Vec<String> {
        let log = written(&place.server_log(), self.log);
        let mut lines = last(&written(&place.broker_output(), self.output), LINES / 2);
        let errors = errors(&log);
        let room = LINES - lines.len();
        if errors.is_empty() {
            lines.extend(last(&log, room));
        } else {
            lines.extend(errors.into_iter().take(room));
        }
        lines
    }
}

/// What Kafka says before it ends for want of one, after a minute.
const NO_QUORUM: &str = "unable to register with the controller quorum";

/// What Kafka says when it comes to the logs on its disk, and of each that is done.
const LOGS: [&str; 2] = ["clean shutdown file was found", " completed in "];

impl Marks {
    /// What this start has said of its logs; none before it came to them.
    pub fn loading(self, place: &Place) -> Option<Loading> {
        loading(&written(&place.server_log(), self.log))
    }

    /// Whether this start has begun to load its logs, or to recover them.
    pub fn came_to_logs(self, place: &Place) -> bool {
        let is_of_logs = |line: &String| LOGS.iter().any(|said| line.contains(said));
        written(&place.server_log(), self.log).iter().any(is_of_logs)
    }
}

impl Marks {
    /// Whether this start said that it ends because it found no quorum.
    pub fn found_no_quorum(self, place: &Place) -> bool {
        written(&place.server_log(), self.log).iter().any(|line| line.contains(NO_QUORUM))
    }
}

/// From `… (3/120 completed in /data)` and what was said before the first.
fn loading(lines: &[String]) -> Option<Loading> {
    let recovers = lines.iter().any(|line| line.contains("no clean shutdown file was found"));
    let counted = lines.iter().rev().find_map(|line| {
        let (before, _) = line.split_once(" completed in ")?;
        let (_, counts) = before.rsplit_once('(')?;
        let (done, of) = counts.split_once('/')?;
        Some((done.parse().ok()?, of.parse().ok()?))
    });
    counted.map(|(done, of)| Loading { done, of, recovers })
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// The lines since the mark, without empty ones.
fn written(path: &Path, mark: u64) -> Vec<String> {
    let read = || {
        let mut file = File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        // A file shorter than before is a new one after a rotation.
        let from = if length < mark { 0 } else { mark };
        file.seek(SeekFrom::Start(from.max(length.saturating_sub(WINDOW)))).ok()?;
        let mut bytes = Vec::new();
        file.take(WINDOW).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.chars().take(WIDTH).collect()).collect()
}

fn last(lines: &[String], count: usize) -> Vec<String> {
    lines[lines.len().saturating_sub(count)..].to_vec()
}

/// Every error with the lines right after it, the first one first.
fn errors(lines: &[String]) -> Vec<String> {
    let is_error = |line: &String| line.contains(" ERROR ") || line.contains(" FATAL ");
    let mut found: Vec<String> = Vec::new();
    let mut left = 0;
    for line in lines {
        if is_error(line) {
            left = AFTER_ERROR + 1;
        }
        if left > 0 && !found.contains(line) {
            found.push(line.clone());
        }
        left = usize::saturating_sub(left, 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_the_end_of_what_this_start_wrote_is_shown() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        assert!(Marks::now(&place).tail(&place).is_empty());
        fs::write(place.server_log(), "an old error\n").unwrap();
        let marks = Marks::now(&place);
        fs::write(place.broker_output(), "Unrecognized VM option\n").unwrap();
        assert_eq!(marks.tail(&place), ["Unrecognized VM option"]);

        fs::write(place.broker_output(), "").unwrap();
        let lines: Vec<String> = (0..30).map(|line| format!("line {line}\n")).collect();
        let lines = lines.join("\n");
        fs::write(place.server_log(), format!("an old error\n{lines}")).unwrap();
        let shown = marks.tail(&place);
        assert_eq!(shown.len(), LINES);
        assert_eq!((shown[0].as_str(), shown[LINES - 1].as_str()), ("line 18", "line 29"));

        fs::write(place.server_log(), "rotated\n").unwrap();
        assert_eq!(marks.tail(&place), ["rotated"]);
    }

    #[test]
    fn a_start_tells_how_far_it_is_with_its_logs() {
        let line = |text: &str| text.to_owned();
        assert_eq!(loading(&[line("INFO starting")]), None);
        let loaded =
            "Completed load of Log(dir=/d/a-0) with 1 segments in 5ms (2/7 completed in /d)";
        let seen = loading(&[line(loaded)]).unwrap();
        assert_eq!(seen.to_string(), "the broker is loading its logs: 2 of 7 done");
        let crashed = "Recovering 7 logs from /d since no clean shutdown file was found";
        let seen = loading(&[line(crashed), line(loaded), line("chatter")]).unwrap();
        let words = "the broker is recovering its logs after a crash: 2 of 7 done";
        assert_eq!(seen.to_string(), words);
    }

    #[test]
    fn a_start_that_came_to_its_logs_says_so_before_the_first_is_done() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        let check = |said: &str, expected: bool| {
            fs::write(place.server_log(), said).unwrap();
            assert_eq!(Marks::default().came_to_logs(&place), expected, "{said}");
        };
        check("INFO still looking for a leader\n", false);
        check("INFO Recovering 1 logs from /d since no clean shutdown file was found\n", true);
        check(
            "INFO Skipping recovery of 2 logs from /d since clean shutdown file was found\n",
            true,
        );
        check("INFO Completed load of Log(dir=/d/a-0) in 5ms (2/7 completed in /d)\n", true);
        assert!(!Marks::now(&place).came_to_logs(&place), "it was an earlier start");
    }

    #[test]
    fn a_start_that_found_no_quorum_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        let said = "t ERROR Shutting down because we were unable to register with the controller \
                    quorum. (kafka.server.BrokerLifecycleManager)\n";
        fs::write(place.server_log(), said).unwrap();
        assert!(Marks::default().found_no_quorum(&place));
        assert!(!Marks::now(&place).found_no_quorum(&place), "it was an earlier start");
    }

    #[test]
    fn errors_come_before_the_chatter_of_a_shutdown() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        let chatter: Vec<String> = (0..50).map(|line| format!("t INFO stopped {line}")).collect();
        let log = format!(
            "t INFO starting\nt ERROR can't bind\njava.net.BindException\n{}",
            chatter.join("\n")
        );
        fs::write(place.server_log(), log).unwrap();
        fs::write(place.broker_output(), "The broker can't be started: in use\n").unwrap();
        let shown = Marks::default().tail(&place);
        assert_eq!(
            shown[..3],
            ["The broker can't be started: in use", "t ERROR can't bind", "java.net.BindException"]
        );
    }
}
