//! A server's directory with its logs, one destination, and a clock that the test moves.

use follow::{Batch, Files, Limits, Tail, Turn};
use model::{LogEvent, LogSource, SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

pub const SERVER_LOG: &str = "logs/server.log";
pub const BROKER_OUT: &str = "logs/broker.out";
pub const GC_LOG: &str = "logs/gc.log";
pub const AGENT_LOG: &str = "agent.log";

pub const READER: i64 = 7;

pub struct Server {
    directory: tempfile::TempDir,
    pub limits: Limits,
    pub now: Timestamp,
    tail: Option<Tail>,
    pub got: Vec<LogEvent>,
    /// Of which each file that was rotated says when it was written: those of one test are
    /// rotated faster than file systems count.
    rotations: u64,
    pub gaps: u64,
}

impl Server {
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub fn with_limits(limits: Limits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("logs")).unwrap();
        let now = "2026-11-19T12:00:00Z".parse().unwrap();
        let (tail, got) = (None, Vec::new());
        Self { directory, limits, now, tail, got, rotations: 0, gaps: 0 }
    }

    /// One that is followed already.
    pub fn followed() -> Self {
        let mut server = Self::new();
        server.follow();
        server
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn spool(&self) -> PathBuf {
        self.path("spool")
    }

    pub fn tail(&mut self) -> &mut Tail {
        if self.tail.is_none() {
            let files = Files {
                server: self.directory.path().into(),
                broker: SERVER_LOG.into(),
                output: BROKER_OUT.into(),
                gc: Some(GC_LOG.into()),
                agent: AGENT_LOG.into(),
            };
            self.tail = Some(Tail::open(&self.spool(), files, self.limits).unwrap());
        }
        self.tail.as_mut().unwrap()
    }

    pub fn follow(&mut self) {
        self.tail().set_readers(&[READER].into()).unwrap();
    }

    /// As a process that is killed: what it knew is gone.
    pub fn kill(&mut self) {
        self.tail = None;
    }

    pub fn append(&self, name: &str, text: &str) {
        self.append_bytes(name, text.as_bytes());
    }

    pub fn append_bytes(&self, name: &str, bytes: &[u8]) {
        self.open(name).write_all(bytes).unwrap();
    }

    /// As a process has a file that it prints to.
    pub fn open(&self, name: &str) -> File {
        OpenOptions::new().create(true).append(true).open(self.path(name)).unwrap()
    }

    fn stamp(&mut self, name: &str) {
        self.rotations += 1;
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + self.rotations);
        let file = OpenOptions::new().append(true).open(self.path(name)).unwrap();
        file.set_modified(at).unwrap();
    }

    /// As log4j 1 if the newest file has the lowest number, and as log4j 2 if not.
    pub fn roll(&mut self, name: &str, most: u32, is_newest_first: bool) {
        if is_newest_first {
            self.roll_down(name, most);
        } else {
            self.roll_up(name, most);
        }
    }

    /// As log4j 1: the newest of so many files has the lowest number.
    pub fn roll_down(&mut self, name: &str, most: u32) {
        let numbered = |number: u32| format!("{name}.{number}");
        let _ = fs::remove_file(self.path(&numbered(most)));
        for number in (1..most).rev() {
            let _ = fs::rename(self.path(&numbered(number)), self.path(&numbered(number + 1)));
        }
        self.stamp(name);
        fs::rename(self.path(name), self.path(&numbered(1))).unwrap();
        self.append(name, "");
    }

    /// As log4j 2: the newest of so many files has the highest number.
    pub fn roll_up(&mut self, name: &str, most: u32) {
        let numbered = |number: u32| format!("{name}.{number}");
        let free = (1..=most).find(|number| !self.path(&numbered(*number)).exists());
        if free.is_none() {
            for number in 1..most {
                fs::rename(self.path(&numbered(number + 1)), self.path(&numbered(number))).unwrap();
            }
        }
        self.stamp(name);
        fs::rename(self.path(name), self.path(&numbered(free.unwrap_or(most)))).unwrap();
        self.append(name, "");
    }

    /// As `agent/src/log_files.rs`: copied, and emptied under its writer.
    pub fn copy_and_empty(&mut self, name: &str) {
        self.copy(name);
        self.empty(name);
    }

    pub fn copy(&mut self, name: &str) {
        let earlier = format!("{name}.1");
        let _ = fs::remove_file(self.path(&earlier));
        fs::copy(self.path(name), self.path(&earlier)).unwrap();
        self.stamp(&earlier);
    }

    pub fn empty(&self, name: &str) {
        OpenOptions::new().write(true).open(self.path(name)).unwrap().set_len(0).unwrap();
    }

    /// The logs are brought to another disk while the agent is away: each has another inode,
    /// which may be one that another file had.
    pub fn bring_elsewhere(&mut self) {
        self.kill();
        for directory in [self.path(""), self.path("logs")] {
            let entries: Vec<_> = fs::read_dir(&directory).unwrap().map(Result::unwrap).collect();
            for file in entries.iter().filter(|entry| entry.metadata().unwrap().is_file()) {
                let modified = file.metadata().unwrap().modified().unwrap();
                let brought = directory.join("brought");
                fs::copy(file.path(), &brought).unwrap();
                let opened = OpenOptions::new().append(true).open(&brought).unwrap();
                opened.set_modified(modified).unwrap();
                fs::rename(&brought, file.path()).unwrap();
            }
        }
    }

    pub fn turn(&mut self) -> Turn {
        let now = self.now;
        let turn = self.tail().turn(now);
        self.gaps += turn.gaps;
        turn
    }

    /// Turns until there is no more to read.
    pub fn read_files(&mut self) {
        loop {
            let turn = self.turn();
            assert!(turn.fault.is_none(), "{:?}", turn.fault);
            if !turn.has_more {
                return;
            }
        }
    }

    pub fn wait(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// Takes one batch.
    pub fn take(&mut self, events: usize) -> usize {
        let batch = self.batch(events);
        self.tail().ack(READER, batch.end());
        self.got.extend(batch.events.iter().cloned());
        batch.events.len()
    }

    /// The next batch, which is not acknowledged.
    pub fn batch(&mut self, events: usize) -> Batch {
        self.tail().read(READER, events, 1 << 20).unwrap()
    }

    /// Everything there is, the last event too: it is whole when nothing more comes.
    pub fn settle(&mut self) {
        self.read_files();
        self.wait(6);
        self.read_files();
        while self.take(1000) > 0 {}
    }

    /// What was got of one log since it was asked for.
    pub fn messages(&mut self, source: LogSource) -> Vec<String> {
        let mut all: BTreeMap<bool, Vec<LogEvent>> = BTreeMap::new();
        for event in self.got.drain(..) {
            all.entry(event.source == source).or_default().push(event);
        }
        self.got = all.remove(&false).unwrap_or_default();
        let of_source = all.remove(&true).unwrap_or_default();
        of_source.into_iter().map(|event| event.message).collect()
    }
}

/// A line of Kafka's.
pub fn line(message: &str) -> String {
    format!("2026-11-19T11:59:00.000Z INFO {message} (kafka.Test)\n")
}

/// A line of the agent's.
pub fn agent_line(message: &str) -> String {
    format!("2026-11-19T11:59:00.000000Z  INFO agent::test: {message}\n")
}

/// Lines that are numbered.
pub fn lines(numbers: std::ops::Range<usize>, line: impl Fn(&str) -> String) -> String {
    numbers.map(|number| line(&number.to_string())).collect()
}

pub fn numbers(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| number.to_string()).collect()
}
