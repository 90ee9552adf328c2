//! What is copied, seen from outside: the files of a topic on the disks of all servers, as they
//! grow.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::sleep;

const EVERY: Duration = Duration::from_millis(100);

/// What was written of a topic.
#[derive(Clone, Copy, Default)]
pub struct Copied {
    pub bytes: u64,
    /// From the first growth to the last.
    pub seconds: f64,
}

impl Copied {
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds.max(EVERY.as_secs_f64())
    }
}

/// Looks until it is told to end.
pub struct Watch {
    end: Arc<AtomicBool>,
    seen: JoinHandle<Copied>,
}

impl Watch {
    pub fn begin(data: &Path, topic: &str) -> Self {
        let (servers, prefix) = (data.join("servers"), format!("{topic}-"));
        let end = Arc::<AtomicBool>::default();
        let seen = tokio::spawn(look(servers, prefix, Arc::clone(&end)));
        Self { end, seen }
    }

    pub async fn end(self) -> anyhow::Result<Copied> {
        self.end.store(true, Ordering::Relaxed);
        Ok(self.seen.await?)
    }
}

async fn look(servers: PathBuf, prefix: String, end: Arc<AtomicBool>) -> Copied {
    let began = Instant::now();
    let mut before = sizes(&servers, &prefix);
    let (mut bytes, mut first, mut last) = (0, None, 0.0);
    while !end.load(Ordering::Relaxed) {
        sleep(EVERY).await;
        let at = began.elapsed().as_secs_f64();
        let now = sizes(&servers, &prefix);
        let grown = |(path, size): (&PathBuf, &u64)| {
            size.saturating_sub(before.get(path).copied().unwrap_or(0))
        };
        let more: u64 = now.iter().map(grown).sum();
        if more > 0 {
            bytes += more;
            first.get_or_insert(at - EVERY.as_secs_f64());
            last = at;
        }
        before = now;
    }
    Copied { bytes, seconds: last - first.unwrap_or(last) }
}

/// Of the topic's segments. What goes while this looks is not there.
fn sizes(servers: &Path, prefix: &str) -> HashMap<PathBuf, u64> {
    let of_topic = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(prefix) && !name.ends_with("-delete")
    };
    let disks = entries(servers).map(|server| server.join("disk/data"));
    let partitions = disks.flat_map(|disk| entries(&disk)).filter(of_topic);
    let segments = partitions.flat_map(|partition| entries(&partition));
    let segments = segments.filter(|it| it.extension().is_some_and(|it| it == "log"));
    segments.filter_map(|path| Some((path.clone(), fs::metadata(&path).ok()?.len()))).collect()
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let found = fs::read_dir(directory).into_iter().flatten();
    found.filter_map(|entry| Some(entry.ok()?.path()))
}
