//! How the server does: measured every ten seconds, kept until it is taken.
//!
//! It only reads: `/proc`, the server's own directory, the broker's page of
//! metrics. Nothing else in the agent waits for it. What is measured is told as it
//! is; what part of a plan it is, the control plane knows.

mod broker;
mod disk;
mod exposition;
mod kept;
mod log_rates;
mod process_tree;
mod rates;
mod sampler;
mod silence;
mod slow;

pub use sampler::Sampler;

use model::Series;
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::metrics::TopicSample;

/// What was measured at one time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sample {
    /// Unix seconds.
    pub at: i64,
    pub values: Vec<(Series, f32)>,
    pub topics: Vec<(Arc<str>, TopicSample)>,
}

impl Sample {
    /// What is no number is left out.
    fn add(&mut self, series: Series, value: f64) {
        if value.is_finite() {
            self.values.push((series, narrow(value)));
        }
    }

    fn to_wire(&self) -> wire::metrics::Sample {
        let values: BTreeMap<String, f32> =
            self.values.iter().map(|(series, value)| (series.to_string(), *value)).collect();
        let topics = self.topics.iter().map(|(name, topic)| (name.to_string(), *topic)).collect();
        wire::metrics::Sample { at: self.at, values, topics }
    }
}

/// Seven digits are more than any of these numbers is good for.
#[expect(clippy::cast_possible_truncation, reason = "what is cut off is below what is measured")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts single bytes of petabytes")]
fn number(count: u64) -> f64 {
    count as f64
}
