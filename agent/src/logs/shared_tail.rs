//! The events that wait on disk, for several tasks.
//!
//! Reading logs and spool can take as long as a disk likes, so each call has a thread of its
//! own, and there is never more than one: a disk that hangs holds up the tasks that read events,
//! and no other task of the agent.

use follow::{Batch, Fault, Files, Limits, Position, Tail, Turn};
use model::Timestamp;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, watch};
use tokio::task::spawn_blocking;

#[derive(Clone)]
pub struct SharedTail {
    tail: Arc<Mutex<Tail>>,
    /// Changed whenever there are more events.
    news: Arc<watch::Sender<()>>,
}

/// What is kept for a destination.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Kept {
    /// Events that it has yet to take.
    pub behind: u64,
    /// Those that it never gets.
    pub dropped: u64,
}

/// Why nothing came of a call.
#[derive(Debug, thiserror::Error)]
pub enum TailError {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("a look at the logs ended unexpectedly: {0}")]
    Broken(String),
}

impl SharedTail {
    pub async fn open(directory: PathBuf, files: Files, limits: Limits) -> Result<Self, TailError> {
        let opened = spawn_blocking(move || Tail::open(&directory, files, limits)).await;
        let tail = opened.map_err(|error| TailError::Broken(error.to_string()))??;
        Ok(Self { tail: Arc::new(Mutex::new(tail)), news: Arc::new(watch::channel(()).0) })
    }

    pub fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    pub async fn has_readers(&self) -> bool {
        self.tail.lock().await.has_readers()
    }

    pub async fn set_readers(&self, ids: BTreeSet<i64>) -> Result<(), TailError> {
        Ok(self.on_disk(move |tail| tail.set_readers(&ids)).await??)
    }

    /// A piece of each log, and then what is kept for these.
    pub async fn turn(
        &self,
        now: Timestamp,
        ids: Vec<i64>,
    ) -> Result<(Turn, Vec<(i64, Kept)>), TailError> {
        let look = move |tail: &mut Tail| {
            let turn = tail.turn(now);
            let kept = ids.into_iter().map(|id| (id, kept(tail, id))).collect();
            (turn, kept)
        };
        let (turn, kept) = self.on_disk(look).await?;
        if turn.events > 0 {
            self.news.send_replace(());
        }
        Ok((turn, kept))
    }

    /// The next events of a destination, of about so many bytes.
    pub async fn read(&self, id: i64, bytes: usize) -> Result<Batch, TailError> {
        Ok(self.on_disk(move |tail| tail.read(id, usize::MAX, bytes)).await??)
    }

    /// A destination has what is before that position, but for so many that it refused for ever.
    /// Returns what is left.
    pub async fn ack(&self, id: i64, place: Position, refused: u64) -> Result<Kept, TailError> {
        let ack = move |tail: &mut Tail| {
            if refused > 0 {
                tail.refused(id, refused);
            }
            tail.ack(id, place);
            kept(tail, id)
        };
        self.on_disk(ack).await
    }

    pub async fn forget_dropped(&self, id: i64) {
        self.tail.lock().await.forget_dropped(id);
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tail) -> T + Send + 'static,
    ) -> Result<T, TailError> {
        let mut tail = Arc::clone(&self.tail).lock_owned().await;
        let done = spawn_blocking(move || work(&mut tail)).await;
        done.map_err(|error| TailError::Broken(error.to_string()))
    }
}

fn kept(tail: &Tail, id: i64) -> Kept {
    Kept { behind: tail.behind(id).0, dropped: tail.dropped(id) }
}

impl TailError {
    /// For the customer, who knows nothing of paths on this host.
    pub fn sentence(&self) -> &'static str {
        match self {
            Self::Fault(Fault::Log { .. }) => {
                "one of the server's logs can't be read, so its lines wait"
            }
            Self::Fault(Fault::Write { .. }) => {
                "the server has no room to keep log lines, or can't write them, so they wait in \
                 their files"
            }
            Self::Fault(Fault::Read { .. }) => "log lines that the server kept can't be read",
            Self::Broken(_) => "the server's agent can't read the server's logs",
        }
    }
}
