//! Calls about an instance's servers: `nodes`, `config/kafka` and `metrics`.

use crate::{Client, Result};
use reqwest::Method;
use serde_json::{Map, Value};
use wire::customer::Message;
use wire::metrics::Metrics;
use wire::nodes::Node;
use wire::settings::Setting;

/// What to read; everything has a default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadMetrics {
    /// All of a server's if none is named.
    pub series: Vec<String>,
    pub topic: Option<String>,
    pub group: Option<String>,
    /// A time, or Unix seconds.
    pub from: Option<String>,
    pub to: Option<String>,
    /// Seconds.
    pub step: Option<i64>,
    /// `avg` or `max`.
    pub of: Option<String>,
}

impl Client {
    /// Its servers; none before they exist.
    pub async fn nodes(&self, id: i64) -> Result<Vec<Node>> {
        self.call.get(&format!("api/instances/{id}/nodes")).await
    }

    /// The settings of all brokers that were chosen.
    pub async fn settings(&self, id: i64) -> Result<Vec<Setting>> {
        self.call.get(&format!("api/instances/{id}/config/kafka")).await
    }

    /// All of them or none; those that are not named stay as they are.
    pub async fn set(&self, id: i64, settings: &Map<String, Value>) -> Result<Message> {
        self.call.send(Method::POST, &format!("api/instances/{id}/config/kafka"), settings).await
    }

    /// What its servers measured.
    pub async fn metrics(&self, id: i64, what: &ReadMetrics) -> Result<Metrics> {
        let series = Some(what.series.join(",")).filter(|series| !series.is_empty());
        let step = what.step.map(|seconds| seconds.to_string());
        let query = [
            ("series", series.as_deref()),
            ("topic", what.topic.as_deref()),
            ("group", what.group.as_deref()),
            ("from", what.from.as_deref()),
            ("to", what.to.as_deref()),
            ("step", step.as_deref()),
            ("of", what.of.as_deref()),
        ];
        self.call.get_with(&format!("api/instances/{id}/metrics"), &query).await
    }
}
