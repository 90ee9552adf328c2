//! When keys were last used: to the minute, noted in memory and written in
//! batches. No request waits for it or fails by it.

use crate::{App, Result};
use model::{ApiKey, KeyId, SignedDuration, Timestamp};
use store::apikeys;

/// A key that was written within this time is not written again.
const GRAIN: SignedDuration = SignedDuration::from_mins(1);

pub(super) fn note_use(app: &App, key: &ApiKey) {
    let now = app.now();
    if key.last_used_at.is_none_or(|at| now.duration_since(at) >= GRAIN) {
        // The first of a minute stands for all of it.
        app.last_used().entry(key.id).or_insert(now);
    }
}

/// Writes the uses since the last flush, in one transaction. What can't be
/// written is kept for the next time.
pub async fn flush_last_used(app: &App) -> Result<()> {
    let batch = std::mem::take(&mut *app.last_used());
    if batch.is_empty() {
        return Ok(());
    }
    let used: Vec<(KeyId, Timestamp)> = batch.iter().map(|(id, at)| (*id, *at)).collect();
    let written = async {
        let mut work = app.store().begin().await?;
        apikeys::set_last_used(&mut work, &used).await?;
        work.commit().await
    };
    if let Err(error) = written.await {
        let mut waiting = app.last_used();
        for (key, at) in batch {
            waiting.insert(key, at);
        }
        return Err(error.into());
    }
    Ok(())
}
