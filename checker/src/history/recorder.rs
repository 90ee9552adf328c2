//! Takes events from all clients, in memory and into the history's file.
//!
//! One thread writes, so that no client waits for a disk. What it has is handed
//! to the kernel whenever there is nothing more to take: a kill -9 loses what is
//! in the air and nothing else.

use super::{Event, History, Progress, Run};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::watch;

/// The moment from which a run's times are counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zero(Arc<OnceLock<Instant>>);

impl Zero {
    /// It is now.
    pub fn begin(&self) {
        self.0.get_or_init(Instant::now);
    }

    /// Microseconds since; none have passed before it.
    pub fn elapsed(&self) -> u64 {
        let elapsed = self.0.get().map(Instant::elapsed).unwrap_or_default();
        u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX)
    }
}

/// Where clients put what they do.
#[derive(Clone)]
pub(crate) struct Recorder(Sender<Event>);

impl Recorder {
    pub fn record(&self, event: Event) {
        // Who records after the end has nobody to tell.
        let _ = self.0.send(event);
    }
}

pub(crate) struct Recording {
    thread: JoinHandle<io::Result<History>>,
    progress: watch::Receiver<Progress>,
}

impl Recording {
    /// Begins a history, in that file too if one is named.
    pub fn start(run: Run, file: Option<&Path>) -> io::Result<(Recorder, Self)> {
        let mut writer = file.map(|path| File::create(path).map(BufWriter::new)).transpose()?;
        if let Some(writer) = &mut writer {
            line(writer, &run)?;
            writer.flush()?;
        }
        let (sender, receiver) = channel();
        let first = Progress { acked_by_client: vec![0; run.clients.len()], ..Progress::default() };
        let (told, progress) = watch::channel(first);
        let thread = std::thread::Builder::new()
            .name("history".into())
            .spawn(move || keep(run, &receiver, writer, &told))?;
        Ok((Recorder(sender), Self { thread, progress }))
    }

    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// The whole history, once every [`Recorder`] is gone.
    pub fn finish(self) -> io::Result<History> {
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the recorder panicked")))
    }
}

fn keep(
    run: Run,
    events: &Receiver<Event>,
    mut writer: Option<BufWriter<File>>,
    told: &watch::Sender<Progress>,
) -> io::Result<History> {
    let mut history = History { run, events: Vec::new() };
    let mut progress = told.borrow().clone();
    let mut waiting = Vec::new();
    while let Ok(first) = events.recv() {
        waiting.push(first);
        waiting.extend(events.try_iter());
        for event in waiting.drain(..) {
            if let Some(writer) = &mut writer {
                line(writer, &event)?;
            }
            progress.count(&event);
            history.events.push(event);
        }
        if let Some(writer) = &mut writer {
            writer.flush()?;
        }
        told.send_replace(progress.clone());
    }
    Ok(history)
}

fn line(writer: &mut impl Write, what: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, what)?;
    writer.write_all(b"\n")
}

impl Progress {
    fn count(&mut self, event: &Event) {
        match event {
            Event::Sent { .. } => self.sent += 1,
            Event::Acked { id, .. } => {
                self.acked += 1;
                if let Some(count) = self.acked_by_client.get_mut(id.client) {
                    *count += 1;
                }
            }
            Event::Failed { error, .. } => {
                self.failed += 1;
                self.last_trouble = Some(error.clone());
            }
            Event::Committed { .. } => self.committed += 1,
            Event::Aborted { .. } => self.aborted += 1,
            Event::Seen { .. } => self.seen += 1,
            Event::Unsure { error, .. } | Event::Trouble { error, .. } => {
                self.last_trouble = Some(error.clone());
            }
            Event::SeenAll { .. } | Event::Ended { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, RecordId};

    fn run() -> Run {
        Run {
            id: "r1".into(),
            topic: "t".into(),
            partitions: 1,
            clients: vec![Client::ALL[0]],
            group: false,
            began: "2026-11-15T07:00:30Z".parse().unwrap(),
        }
    }

    #[test]
    fn a_file_has_what_was_recorded_while_the_run_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        let (recorder, recording) = Recording::start(run(), Some(&path)).unwrap();
        let id = RecordId { client: 0, number: 0 };
        let events = [
            Event::Sent { id, partition: 0, transaction: None, at: 1 },
            Event::Acked { id, offset: Some(0), at: 2 },
        ];
        for event in &events {
            recorder.record(event.clone());
        }
        let mut progress = recording.progress();
        while progress.borrow_and_update().acked < 1 {
            std::thread::yield_now();
        }
        // As a kill -9 would leave it.
        let left = History::load(&path).unwrap();
        assert_eq!(left, History { run: run(), events: events.to_vec() });
        drop(recorder);
        assert_eq!(recording.finish().unwrap(), left);
    }

    #[test]
    fn half_a_line_is_left_out_and_nonsense_is_refused_by_its_number() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history");
        let first = serde_json::to_string(&run()).unwrap();
        let check = |rest: &str, expected: Result<usize, &str>| {
            std::fs::write(&path, format!("{first}\n{rest}")).unwrap();
            let events = History::load(&path).map(|history| history.events.len());
            match (events.map_err(|error| error.to_string()), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{rest}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                (found, expected) => panic!("{found:?}, not {expected:?}: {rest}"),
            }
        };
        check("", Ok(0));
        check("{\"ended\":{\"at\":1}}\n{\"ack", Ok(1));
        check("{\"ended\":{\"at\":1}}\nhello\n", Err("line 3"));
    }
}
