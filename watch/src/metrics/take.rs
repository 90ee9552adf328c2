//! Samples from an agent.

use super::hub::{AHEAD, News, Taken};
use super::share;
use crate::{Context, Result};
use model::{InstanceId, ServerId};
use series::{STEP, Sample, Tier, align, unpack};
use std::sync::Arc;

/// What is older came from a clock that is wrong, or too late for anybody.
const OLDEST: i64 = 2 * 3600;

/// Takes samples into memory. What makes no sense is left out and counts as taken:
/// it would make none the next time either.
pub async fn take(
    context: &Context,
    instance: InstanceId,
    server: ServerId,
    samples: Vec<Sample>,
) -> Result<Taken> {
    let now = context.now().as_second();
    let size = share::size(context, instance, server).await?;
    let written = written(context, server).await;
    let metrics = context.metrics();
    for mut sample in samples {
        sample.at = align(sample.at, STEP);
        if !(now - OLDEST..=now + AHEAD).contains(&sample.at) {
            continue;
        }
        sample.values.retain(|_, value| value.is_finite());
        share::add(&mut sample, size);
        let sample = Arc::new(sample);
        // Waiting for us is no silence of its own.
        metrics.servers().entry(server).or_default().hear(context.elapsed());
        metrics.room().await;
        if metrics.take(server, &sample, now) {
            metrics.publish(News::Sample(server, sample));
        }
    }
    let window = metrics.window(|| context.entropy().uuid().to_string());
    let mut servers = metrics.servers();
    let held = servers.entry(server).or_default();
    held.written = held.written.max(written);
    held.instance = Some(instance);
    Ok(Taken { window, kept_through: held.kept_through() })
}

/// The last point that an earlier process wrote, looked up once. A history that
/// can't be read has nothing that the agent may forget.
async fn written(context: &Context, server: ServerId) -> Option<i64> {
    let history = context.metrics().history.as_ref()?;
    let known = context.metrics().servers().get(&server).and_then(|held| held.written);
    if known.is_some() {
        return known;
    }
    match history.last(server, Tier::Sampled.step()).await {
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
