//! Writes a log as Kafka's does: lines of log4j of about 150 bytes, now and then a stack trace,
//! and files that are renamed when they are full. Every line has its number in it.

use super::lines::{Lines, word};
use anyhow::Result;
use model::{Clock as _, SystemClock, Timestamp};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};

/// Between two writes.
const TICK: Duration = Duration::from_millis(10);
/// As brokers are configured.
const FULL: usize = 10_000_000;
const KEPT: usize = 4;
/// An event with a stack trace is one of so many lines, and has so many.
const TRACE_EVERY: usize = 200;
const TRACE: usize = 10;

pub struct Writer {
    lines: Arc<Lines>,
    log: PathBuf,
    file: File,
    length: usize,
    /// Files that were renamed.
    kept: usize,
}

fn open(log: &PathBuf) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(log)
}

impl Writer {
    pub fn new(log: PathBuf, lines: Arc<Lines>) -> io::Result<Self> {
        let file = open(&log)?;
        Ok(Self { lines, log, file, length: 0, kept: 0 })
    }

    /// Writes so many lines a second for so long; more at a time, where the machine is late.
    pub async fn run(&mut self, a_second: u32, last: Duration) -> Result<()> {
        let (began, mut written) = (Instant::now(), 0);
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while began.elapsed() < last {
            ticks.tick().await;
            let due = crate::rounded(began.elapsed().as_secs_f64() * f64::from(a_second));
            let due = usize::try_from(due)?;
            if due > written {
                written += self.write(due - written)?;
            }
        }
        Ok(())
    }

    /// So many lines, and what belongs to the event of the last. Returns how many.
    pub fn write(&mut self, count: usize) -> io::Result<usize> {
        if self.length > FULL {
            self.roll()?;
        }
        let first = self.lines.end();
        let mut end = first + count;
        while is_of_trace(end) {
            end += 1;
        }
        let (now, mut text) = (SystemClock.now(), String::new());
        for number in first..end {
            line(number, now, &mut text);
        }
        // Before they can be read.
        self.lines.write(end - first);
        self.file.write_all(text.as_bytes())?;
        self.length += text.len();
        Ok(end - first)
    }

    /// As log4j 2: the newest has the highest number.
    fn roll(&mut self) -> io::Result<()> {
        let numbered = |number: usize| {
            let mut name = self.log.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        if self.kept == KEPT {
            for number in 1..KEPT {
                fs::rename(numbered(number + 1), numbered(number))?;
            }
            self.kept -= 1;
        }
        self.kept += 1;
        fs::rename(&self.log, numbered(self.kept))?;
        (self.file, self.length) = (open(&self.log)?, 0);
        Ok(())
    }
}

/// Whether a line goes on with a stack trace.
fn is_of_trace(number: usize) -> bool {
    (1..TRACE).contains(&(number % TRACE_EVERY))
}

/// The receiver of bytes keeps back the last word until more comes, so a word stands behind
/// the number.
fn line(number: usize, now: Timestamp, out: &mut String) {
    let mut hasher = DefaultHasher::new();
    number.hash(&mut hasher);
    let chance = hasher.finish();
    let (few, some, many) = (chance % 9, (chance >> 8) % 100, (chance >> 16) % 1_000_000_000);
    let word = word(number);
    let written = if is_of_trace(number) {
        writeln!(
            out,
            "\tat kafka.server.ReplicaManager.append{few}(ReplicaManager.scala:{some}) \
             ~[kafka_2.13-4.3.1.jar:{word} ]"
        )
    } else if number.is_multiple_of(TRACE_EVERY) {
        writeln!(
            out,
            "{now:.3} ERROR [ReplicaManager broker=1] Error processing append operation on \
             partition payments-{some}, {word} today (kafka.server.ReplicaManager)\n\
             org.apache.kafka.common.errors.KafkaStorageException: disk error"
        )
    } else if number.is_multiple_of(3) {
        writeln!(
            out,
            "{now:.3} INFO [UnifiedLog partition=orders-{some}] Rolled new log segment at offset \
             {many} in {few} ms, {word} today (kafka.log.UnifiedLog)"
        )
    } else if number % 3 == 1 {
        writeln!(
            out,
            "{now:.3} INFO [GroupCoordinator 1]: Stabilized group billing-{some} generation {many} \
             with {few} members, {word} today (kafka.coordinator.group.GroupCoordinator)"
        )
    } else {
        writeln!(
            out,
            "{now:.3} INFO [Partition payments-{some} broker=1] ISR updated to 1,2,3 and version \
             updated to {many}, {word} today (kafka.cluster.Partition)"
        )
    };
    written.expect("a text takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_written_once_and_traces_are_whole() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("server.log");
        let lines = Arc::new(Lines::default());
        let mut writer = Writer::new(log.clone(), Arc::clone(&lines)).unwrap();
        assert_eq!(writer.write(195).unwrap(), 195);
        assert_eq!(writer.write(8).unwrap(), 15, "up to the end of a trace");
        for _ in 0..6 {
            writer.length = FULL + 1;
            writer.write(100).unwrap();
        }
        let mut names: Vec<_> = fs::read_dir(directory.path()).unwrap().flatten().collect();
        names.sort_by_key(fs::DirEntry::path);
        assert_eq!(names.len(), 1 + KEPT);
        for file in &names {
            lines.look(&fs::read(file.path()).unwrap());
        }
        let outcome = lines.outcome(lines.end() - 500..lines.end());
        assert_eq!((outcome.lost, outcome.doubled), (0, 0));
        let text = fs::read_to_string(&log).unwrap();
        let mean = text.len() / text.lines().count();
        assert!((130..170).contains(&mean), "{mean}");
    }
}
