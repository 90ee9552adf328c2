//! `POST /agent/v1/metrics`.

use super::{AgentCertificate, Document};
use crate::answer::Answer;
use app::metrics;
use axum::Json;
use axum::extract::State;
use model::TopicSeries;
use std::collections::BTreeMap;
use std::sync::Arc;
use web::state::Api;
use wire::metrics::{Sample, Samples, Taken, TopicSample};

pub async fn handle(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    Document { value, .. }: Document<Samples>,
) -> Answer<Taken> {
    let samples = value.samples.into_iter().map(sample).collect();
    let metrics::Taken { window, kept_through } = metrics::take(&agent, &api.app, samples).await?;
    Ok(Json(Taken { window, kept_through }))
}

/// Series that only a newer agent knows are left out.
fn sample(sent: Sample) -> metrics::Sample {
    let known = |(name, value): (String, f32)| Some((name.parse().ok()?, value));
    let topics = sent.topics.into_iter().map(|(name, values)| (Arc::from(name), topic(values)));
    metrics::Sample {
        at: sent.at,
        values: sent.values.into_iter().filter_map(known).collect(),
        topics: topics.collect(),
        ..<_>::default()
    }
}

fn topic(sent: TopicSample) -> BTreeMap<TopicSeries, f32> {
    BTreeMap::from([
        (TopicSeries::BytesIn, sent.bytes_in),
        (TopicSeries::BytesOut, sent.bytes_out),
        (TopicSeries::MessagesIn, sent.messages_in),
        (TopicSeries::LogSize, sent.size),
    ])
}
