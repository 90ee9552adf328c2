//! What the control plane does by itself beside the engine. A task takes no
//! input and reads the world anew each time, so it does not matter how often it
//! runs, or on how many control planes.

use app::App;
use model::Month;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, interval_at};
use tokio_util::sync::CancellationToken;
use watch::alarms::Watch;
use watch::metrics::{self, News};

/// How often the clock is looked at; it may be set meanwhile.
const LOOK: Duration = Duration::from_secs(30);
const SEAL: Duration = Duration::from_secs(2);
const TIDY: Duration = Duration::from_mins(1);
const LOOK_FOR_SILENCE: Duration = Duration::from_secs(5);
const LOOK_FOR_EXPIRY: Duration = Duration::from_mins(10);
/// After a start what is overdue is renewed first.
const FIRST_LOOK_FOR_EXPIRY: Duration = Duration::from_mins(5);
const FLUSH_USES: Duration = Duration::from_secs(5);
const FLUSH_METRICS: Duration = Duration::from_secs(10);
const SAMPLE_GROUPS: Duration = Duration::from_secs(30);

/// Invoices at the first moment of each month, and what was missed at once.
pub async fn issue_invoices(app: App, stop: CancellationToken) {
    loop {
        if let Err(error) = app::billing::issue_due(&app).await {
            tracing::warn!(%error, "invoices could not be issued; trying again");
        }
        let now = app.now();
        let left = Duration::try_from(Month::containing(now).end().duration_since(now));
        let wait = left.map_or(LOOK, |left| left.min(LOOK));
        if stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
            return;
        }
    }
}

/// New lines of the audit log go into their chains.
pub async fn seal_audit_log(app: App, stop: CancellationToken) {
    loop {
        if let Err(error) = app::auditlog::seal_due(&app).await {
            tracing::warn!(%error, "the audit log could not be sealed; trying again");
        }
        if stop.run_until_cancelled(tokio::time::sleep(SEAL)).await.is_none() {
            return;
        }
    }
}

/// What is too old leaves the store, and the audit log gets its summaries.
pub async fn tidy(app: App, stop: CancellationToken) {
    loop {
        if let Err(error) = app::retention::tidy(&app).await {
            tracing::warn!(%error, "the store could not be tidied; trying again");
        }
        if stop.run_until_cancelled(tokio::time::sleep(TIDY)).await.is_none() {
            return;
        }
    }
}

/// When keys were used and people seen is written in batches, the last of them at the stop.
pub async fn flush_last_used(app: App, stop: CancellationToken) {
    loop {
        let goes_on = stop.run_until_cancelled(tokio::time::sleep(FLUSH_USES)).await.is_some();
        if let Err(error) = app::apikeys::flush_last_used(&app).await {
            tracing::warn!(%error, "the last uses of keys could not be written; trying again");
        }
        if let Err(error) = app::people::flush_last_seen(&app).await {
            tracing::warn!(%error, "who was seen last could not be written; trying again");
        }
        if !goes_on {
            return;
        }
    }
}

/// Samples, alarms and consumer groups.
pub fn start_watch(
    running: &mut JoinSet<()>,
    context: &watch::Context,
    history_mb: u32,
    stop: &CancellationToken,
) {
    running.spawn(watch_alarms(context.clone(), stop.clone()));
    running.spawn(keep_metrics(context.clone(), history_mb, stop.clone()));
    running.spawn(sample_groups(context.clone(), stop.clone()));
}

/// Every sample against the alarms, servers that are silent, and certificates that near
/// their end.
async fn watch_alarms(context: watch::Context, stop: CancellationToken) {
    let mut news = metrics::subscribe(&context);
    let mut silence = interval(LOOK_FOR_SILENCE);
    let mut expiry = interval_at(Instant::now() + FIRST_LOOK_FOR_EXPIRY, LOOK_FOR_EXPIRY);
    let mut watch = Watch::new(context);
    loop {
        let looked = tokio::select! {
            () = stop.cancelled() => return,
            _ = silence.tick() => watch.silence().await,
            _ = expiry.tick() => watch.expiry().await,
            news = news.recv() => match news {
                Ok(News::Sample(server, sample)) => watch.sample(server, &sample).await,
                Ok(News::Groups(instance, lags)) => watch.groups(instance, &lags).await,
                Err(RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "alarms did not see every sample");
                    Ok(())
                }
                Err(RecvError::Closed) => return,
            },
        };
        if let Err(error) = looked {
            tracing::warn!(%error, "an alarm could not be looked at; the next sample is");
        }
    }
}

/// What servers measured goes into the history window by window, all that is left
/// at the stop.
async fn keep_metrics(context: watch::Context, history_mb: u32, stop: CancellationToken) {
    let most_bytes = i64::from(history_mb) * 1024 * 1024;
    while stop.run_until_cancelled(tokio::time::sleep(FLUSH_METRICS)).await.is_some() {
        metrics::flush(&context, most_bytes).await;
    }
    metrics::flush_everything(&context).await;
}

/// How far behind consumer groups are, asked of every cluster.
async fn sample_groups(context: watch::Context, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(SAMPLE_GROUPS)).await.is_some() {
        stop.run_until_cancelled(metrics::sample_groups(&context)).await;
    }
}
