//! With any order of writes, rotations and kills: a destination gets every event,
//! in order, and after a kill at most what it had not acknowledged once more.

use crate::server::{AGENT_LOG, BROKER_OUT, READER, SERVER_LOG, Server};
use follow::Limits;
use model::LogSource;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

/// How many cases are tried, and how many in the long tests, if `PROPTEST_CASES` does not say it.
const CASES: u32 = 100;
const MANY_CASES: u32 = 1000;
/// Rolled over often.
const LIMITS: Limits = Limits { spool: 64 << 20, segment: 4 << 10, event: 256 << 10 };
/// More files than are ever made, so that none is lost unread.
const FILES: u32 = 200;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Writer {
    Broker,
    Output,
    Agent,
}

impl Writer {
    const ALL: [Self; 3] = [Self::Broker, Self::Output, Self::Agent];

    fn log(self) -> &'static str {
        match self {
            Self::Broker => SERVER_LOG,
            Self::Output => BROKER_OUT,
            Self::Agent => AGENT_LOG,
        }
    }

    fn source(self) -> LogSource {
        match self {
            Self::Broker => LogSource::Broker,
            Self::Output => LogSource::Output,
            Self::Agent => LogSource::Agent,
        }
    }

    fn line(self, message: &str) -> String {
        match self {
            Self::Broker => crate::server::line(message),
            Self::Output => format!("{message}\n"),
            Self::Agent => crate::server::agent_line(message),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// So many events, each with so many lines of a stack trace.
    Write(Writer, usize, usize),
    /// The first part of an event; what is written next is its end.
    WriteHalf(Writer, usize),
    Rotate(Writer, bool),
    Turn,
    Take(usize),
    Wait,
    Kill,
    /// The destination got a batch and did not say so.
    KillAfterBatch(usize),
    /// In the midst of a write, after so many bytes.
    KillWriting(usize),
    /// The files are brought to another disk while the agent is away.
    Bring,
}

fn step() -> impl Strategy<Value = Step> {
    let writer = || (0..3usize).prop_map(|at| Writer::ALL[at]);
    prop_oneof![
        6 => (writer(), 1..30usize, 0..4usize).prop_map(|(it, count, trace)| Step::Write(it, count, trace)),
        2 => (writer(), 1..80usize).prop_map(|(it, length)| Step::WriteHalf(it, length)),
        4 => (writer(), any::<bool>()).prop_map(|(it, way)| Step::Rotate(it, way)),
        6 => Just(Step::Turn),
        3 => (1..50usize).prop_map(Step::Take),
        1 => Just(Step::Wait),
        1 => Just(Step::Kill),
        1 => (1..50usize).prop_map(Step::KillAfterBatch),
        1 => (1..200usize).prop_map(Step::KillWriting),
        1 => Just(Step::Bring),
    ]
}

struct Scene {
    server: Server,
    written: BTreeMap<Writer, Vec<String>>,
    /// The end of an event that was begun.
    open: BTreeMap<Writer, String>,
    /// Those whose copy has not been read.
    copied: Vec<Writer>,
    rolls_down: bool,
    /// How many events the destination may have twice.
    twice: usize,
    /// How many it had when a process was killed.
    kills: Vec<usize>,
}

impl Scene {
    fn new(rolls_down: bool) -> Self {
        let mut server = Server::with_limits(LIMITS);
        server.follow();
        Self {
            server,
            written: BTreeMap::new(),
            open: BTreeMap::new(),
            copied: Vec::new(),
            rolls_down,
            twice: 0,
            kills: Vec::new(),
        }
    }

    fn next(&mut self, writer: Writer, trace: usize) -> String {
        let written = self.written.entry(writer).or_default();
        let trace = (0..trace).map(|line| format!("\n\tat some.Trace({line})"));
        let message = written.len().to_string();
        written.push(format!("{message}{}", trace.clone().collect::<String>()));
        let trace: String = trace.map(|line| line[1..].to_owned() + "\n").collect();
        writer.line(&message) + &trace
    }

    fn finish(&mut self, writer: Writer) {
        if let Some(end) = self.open.remove(&writer) {
            self.server.append(writer.log(), &end);
        }
    }

    fn kill(&mut self) {
        self.server.kill();
        self.kills.push(self.server.got.len());
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Write(writer, count, trace) => {
                self.finish(writer);
                let text: String = (0..count).map(|_| self.next(writer, trace)).collect();
                self.server.append(writer.log(), &text);
            }
            Step::WriteHalf(writer, length) => {
                self.finish(writer);
                let text = self.next(writer, 1);
                let (half, end) = text.split_at(length.min(text.len() - 1));
                self.server.append(writer.log(), half);
                self.open.insert(writer, end.into());
            }
            Step::Rotate(writer, way) => self.rotate(writer, way),
            Step::Turn => {
                assert!(self.server.turn().fault.is_none());
            }
            Step::Take(count) => {
                self.server.take(count);
            }
            Step::Wait => {
                for writer in Writer::ALL {
                    self.finish(writer);
                }
                self.server.wait(2);
            }
            Step::Kill => self.kill(),
            Step::KillAfterBatch(count) => {
                let batch = self.server.batch(count);
                self.twice += batch.events.len();
                self.server.got.extend(batch.events);
                self.kill();
            }
            Step::Bring => {
                // A line that the emptying of its file broke off is put together by the inode.
                if !self.open.is_empty() || self.copied.contains(&Writer::Output) {
                    self.catch_up();
                }
                self.kill();
                self.server.bring_elsewhere();
            }
            Step::KillWriting(length) => {
                self.kill();
                tear(&last_segment(&self.server), length);
            }
        }
    }

    fn catch_up(&mut self) {
        self.run(&Step::Wait);
        self.server.read_files();
        self.run(&Step::Wait);
        self.server.read_files();
        self.copied.clear();
    }

    fn rotate(&mut self, writer: Writer, way: bool) {
        let name = writer.log();
        if !self.server.path(name).exists() {
            return;
        }
        if writer == Writer::Broker {
            self.server.roll(name, FILES, self.rolls_down);
            return;
        }
        // There is one copy at a time. What is in one that is not in the spool is lost with
        // the next, if the process is killed.
        if self.copied.contains(&writer) {
            self.catch_up();
        }
        self.copied.push(writer);
        if writer == Writer::Output && way {
            self.finish(writer);
            self.server.roll_down(name, 1);
        } else {
            // Only a file that was seen is known to be what the copy is of, so that a line may
            // go on in it.
            if self.open.contains_key(&writer) {
                self.server.read_files();
            }
            self.server.copy_and_empty(name);
        }
    }

    fn end(mut self) {
        for writer in Writer::ALL {
            self.finish(writer);
        }
        self.server.settle();
        assert_eq!(self.server.gaps, 0);
        if self.twice < usize::MAX {
            assert_eq!(self.server.tail().dropped(READER), 0);
        }
        let mut twice = 0;
        for (writer, written) in &self.written {
            twice += check(&self.server, writer.source(), written, &self.kills);
        }
        assert!(twice <= self.twice, "{twice} events twice, and {} at most", self.twice);
    }
}

/// How many events of a log were got more than once. They begin again only after a kill.
fn check(server: &Server, source: LogSource, written: &[String], kills: &[usize]) -> usize {
    let (mut next, mut twice, mut last) = (0, 0, 0);
    for (at, event) in server.got.iter().enumerate().filter(|(_, it)| it.source == source) {
        if written.get(next) != Some(&event.message) {
            let killed = kills.iter().any(|kill| (last + 1..=at).contains(kill));
            let again = written[..next].iter().rposition(|message| *message == event.message);
            let again = again.filter(|_| killed).unwrap_or_else(|| {
                panic!("{source}: {:?} and not {:?}", event.message, written.get(next))
            });
            twice += next - again;
            next = again;
        }
        (next, last) = (next + 1, at);
    }
    assert_eq!(next, written.len(), "{source}: {:?} is missing", written.get(next));
    twice
}

fn last_segment(server: &Server) -> PathBuf {
    let entries = fs::read_dir(server.spool()).unwrap();
    entries.map(|entry| entry.unwrap().path()).max().unwrap()
}

/// As if the process was killed when it had written so much of its next frame.
fn tear(segment: &PathBuf, length: usize) {
    let bytes = fs::read(segment).unwrap();
    let first = frame_length(&bytes);
    let torn = &bytes[..length.min(first - 1)];
    OpenOptions::new().append(true).open(segment).unwrap().write_all(torn).unwrap();
}

/// Of the frame at the beginning.
fn frame_length(bytes: &[u8]) -> usize {
    24 + usize::try_from(u32::from_le_bytes(bytes[..4].try_into().unwrap())).unwrap()
}

/// The same cases each time, unless `CASTELLAN_SEED` asks for others.
fn config() -> ProptestConfig {
    let seed = std::env::var("CASTELLAN_SEED").ok().and_then(|seed| seed.parse().ok());
    let rng_seed = RngSeed::Fixed(seed.unwrap_or(0));
    let default = ProptestConfig::default();
    let cases = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => default.cases,
        None if std::env::var_os("CASTELLAN_TEST_ALL").is_some() => MANY_CASES,
        None => CASES,
    };
    ProptestConfig { rng_seed, cases, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_event_is_got_in_order(
        rolls_down in any::<bool>(),
        steps in vec(step(), 1..80),
    ) {
        let mut scene = Scene::new(rolls_down);
        for step in &steps {
            scene.run(step);
        }
        scene.end();
    }

    /// A machine that loses its power loses the end of what was written last, though not the
    /// beginning of a segment.
    #[test]
    fn what_the_spool_lost_is_read_again(
        steps in vec(prop_oneof![
            6 => (1..30usize, 0..4usize).prop_map(|(count, trace)| (Step::Write(Writer::Broker, count, trace), 0)),
            2 => Just((Step::Rotate(Writer::Broker, true), 0)),
            6 => Just((Step::Turn, 0)),
            3 => (1..50usize).prop_map(|count| (Step::Take(count), 0)),
            1 => (1..4000usize).prop_map(|lost| (Step::Kill, lost)),
        ], 1..60),
    ) {
        let mut scene = Scene::new(true);
        for (step, lost) in &steps {
            scene.run(step);
            if *lost > 0 {
                let segment = last_segment(&scene.server);
                let bytes = fs::read(&segment).unwrap();
                let kept = bytes.len().saturating_sub(*lost).max(frame_length(&bytes));
                fs::write(&segment, &bytes[..kept]).unwrap();
                // What it had and is not known to have may be gone as well.
                scene.twice = usize::MAX;
            }
        }
        scene.end();
    }
}
