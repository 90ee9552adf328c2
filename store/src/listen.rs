//! Wake-ups between control planes: a transaction notifies, every store
//! listens.
//!
//! A notification can be lost while a connection is, so a task that waits for a
//! change also looks from time to time.

use crate::work::Change;
use crate::{Result, db::Query};
use model::{InstanceId, ServerId};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use std::time::Duration;
use tokio::sync::broadcast::Sender;
use tokio::task::AbortHandle;

const CHANNEL: &str = "castellan_changes";
const CONNECT: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(1);
/// PostgreSQL takes up to 8000 bytes in one notification; a change needs 21.
const AT_ONCE: usize = 200;

/// Statements that tell others of the changes once the transaction is
/// committed. Who says so is in front: it knows already.
pub(crate) fn notifications(origin: &str, changes: &[Change]) -> Vec<Query> {
    let notification = |changes: &[Change]| {
        let words: Vec<String> = changes.iter().map(word).collect();
        Query::new("SELECT pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(format!("{origin} {}", words.join(" ")))
    };
    changes.chunks(AT_ONCE).map(notification).collect()
}

fn word(change: &Change) -> String {
    match change {
        Change::Instance(id) => format!("i{}", id.0),
        Change::Desired(id) => format!("d{}", id.0),
        Change::Outbox => "o0".into(),
        Change::Integrations(id) => format!("n{}", id.0),
    }
}

/// The changes that others tell of. Words of a newer Castellan are left out.
fn heard(origin: &str, payload: &str) -> Vec<Change> {
    let mut words = payload.split(' ');
    if words.next() == Some(origin) {
        return Vec::new();
    }
    words.filter_map(change).collect()
}

fn change(word: &str) -> Option<Change> {
    let (kind, id) = word.split_at_checked(1)?;
    let id = id.parse().ok()?;
    match kind {
        "i" => Some(Change::Instance(InstanceId(id))),
        "d" => Some(Change::Desired(ServerId(id))),
        "o" => Some(Change::Outbox),
        "n" => Some(Change::Integrations(InstanceId(id))),
        _ => None,
    }
}

/// Listens until dropped.
#[derive(Debug)]
pub(crate) struct Listening(AbortHandle);

impl Listening {
    /// Returns once nothing is missed any more.
    pub async fn start(
        options: PgConnectOptions,
        origin: String,
        changes: Sender<Change>,
    ) -> Result<Self> {
        let listener = connect(&options).await?;
        Ok(Self(tokio::spawn(listen(listener, options, origin, changes)).abort_handle()))
    }

    pub fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn listen(
    mut listener: PgListener,
    options: PgConnectOptions,
    origin: String,
    changes: Sender<Change>,
) {
    loop {
        let error = loop {
            match listener.recv().await {
                Ok(notification) => {
                    for change in heard(&origin, notification.payload()) {
                        // Nobody waiting is no fault.
                        let _ = changes.send(change);
                    }
                }
                Err(error) => break error,
            }
        };
        tracing::warn!(%error, "changes by other control planes are not heard; connecting again");
        listener = loop {
            tokio::time::sleep(AGAIN).await;
            if let Ok(listener) = connect(&options).await {
                break listener;
            }
        };
    }
}

/// With a connection of its own, which no other work can use up.
async fn connect(options: &PgConnectOptions) -> sqlx::Result<PgListener> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .acquire_timeout(CONNECT)
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_others_are_heard_and_unknown_words_left_out() {
        let announced =
            [Change::Instance(InstanceId(7)), Change::Desired(ServerId(1 << 40)), Change::Outbox];
        let words: Vec<String> = announced.iter().map(word).collect();
        let payload = format!("them {} x9 i ü", words.join(" "));
        assert_eq!(heard("us", &payload), announced);
        assert_eq!(heard("them", &payload), []);
        assert_eq!(heard("us", ""), []);
    }
}
