//! What the engine is told of brokers while replicas move: the samples that agents sent last.

use engine::{Load, Measured};
use model::{Series, ServerId};
use std::time::Duration;
use watch::{Context, metrics};

/// By the samples that this control plane has taken.
pub struct Samples(pub Context);

impl Load for Samples {
    fn measured(&self, servers: &[ServerId]) -> Option<Measured> {
        let latest = servers.iter().map(|server| metrics::latest(&self.0, *server).server);
        let samples: Vec<_> = latest.flatten().collect();
        let most = |series: Series| {
            let values = samples.iter().filter_map(|sample| sample.value(series));
            values.reduce(f32::max)
        };
        let least = |series: Series| {
            let values = samples.iter().filter_map(|sample| sample.value(series));
            values.reduce(f32::min)
        };
        let p99 = most(Series::ProduceP99).filter(|ms| ms.is_finite() && *ms >= 0.0);
        let idle = least(Series::RequestIdle)?;
        Some(Measured {
            p99: p99.map(|ms| Duration::from_secs_f32(ms / 1000.0)),
            busy: 1.0 - f64::from(idle) / 100.0,
        })
    }
}
