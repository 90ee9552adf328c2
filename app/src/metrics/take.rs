//! Samples from an agent.

use super::hub::{News, Taken};
use super::share;
use crate::agents::Agent;
use crate::{App, Result};
use series::{STEP, Sample, Tier, align, unpack};
use std::sync::Arc;

/// What is older came from a clock that is wrong, or too late for anybody.
const OLDEST: i64 = 2 * 3600;
/// Clocks differ. What is further ahead was measured before a clock was set back.
pub(crate) const AHEAD: i64 = 300;

/// Takes samples into memory. What makes no sense is left out and counts as taken:
/// it would make none the next time either.
pub async fn take(agent: &Agent, app: &App, samples: Vec<Sample>) -> Result<Taken> {
    let (server, now) = (agent.server_id(), app.now().as_second());
    let size = share::size(agent, app).await?;
    let written = written(agent, app).await;
    let metrics = app.metrics();
    for mut sample in samples {
        sample.at = align(sample.at, STEP);
        if !(now - OLDEST..=now + AHEAD).contains(&sample.at) {
            continue;
        }
        sample.values.retain(|_, value| value.is_finite());
        share::add(&mut sample, size);
        let sample = Arc::new(sample);
        // Waiting for us is no silence of its own.
        metrics.servers().entry(server).or_default().heard_at = Some(app.now());
        metrics.room().await;
        if metrics.take(server, &sample, now) {
            metrics.tell(News::Sample(server, sample));
        }
    }
    let window = metrics.window(|| app.entropy().uuid().to_string());
    let mut servers = metrics.servers();
    let held = servers.entry(server).or_default();
    held.written = held.written.max(written);
    held.instance = Some(agent.instance_id());
    Ok(Taken { window, kept_through: held.kept_through() })
}

/// The last point that an earlier process wrote, looked up once. A history that
/// can't be read has nothing that the agent may forget.
async fn written(agent: &Agent, app: &App) -> Option<i64> {
    let history = app.metrics().history.as_ref()?;
    let known = app.metrics().servers().get(&agent.server_id()).and_then(|held| held.written);
    if known.is_some() {
        return known;
    }
    match history.last(agent.server_id(), Tier::Sampled.step()).await {
        Ok(row) => {
            let window = row.and_then(|row| unpack(&row.body).ok());
            Some(window.and_then(|window| window.last()).unwrap_or(0))
        }
        Err(error) => {
            tracing::warn!(%error, "the history of metrics can't be read; going on without");
            None
        }
    }
}
