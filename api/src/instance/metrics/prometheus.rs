//! `GET /api/metrics/prometheus`: the last sample of every server, as Prometheus
//! scrapes it.

use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::Right;
use app::metrics::{self, Latest, Measure};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use model::Series;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub async fn handle(State(api): State<Api>, Seeing(access): Seeing) -> Result<Response, Failure> {
    let latest = metrics::latest_of(&access, &api.app).await?;
    Ok(([(CONTENT_TYPE, TEXT_FORMAT)], text(&latest)).into_response())
}

/// Every series stands together, as the format asks for. A server that has not
/// been heard of lately is only told not to be up.
fn text(latest: &[Latest]) -> String {
    let mut series: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Latest { server, sample, broker_up, topics, groups } in latest {
        let mut add = |name: &str, more: &str, value: f32| {
            let lines = series.entry(format!("castellan_{name}")).or_default();
            lines.push(format!("{{server=\"{}\"{more}}} {value}", server.name));
        };
        let flag = |is_so: bool| if is_so { 1.0 } else { 0.0 };
        add("up", "", flag(sample.is_some()));
        if let Some(broker_up) = *broker_up {
            add("broker_up", "", flag(broker_up));
        }
        let all = [(sample, Kind::Server), (topics, Kind::Topic), (groups, Kind::Group)];
        for (sample, kind) in all {
            for (measure, value) in sample.iter().flat_map(|sample| sample.measures()) {
                if let Some(labels) = labels(&measure, kind) {
                    add(measure.series(), &labels, value);
                }
            }
        }
    }
    let mut text = String::new();
    for (name, lines) in series {
        let _ = writeln!(text, "# TYPE {name} gauge");
        for line in lines {
            let _ = writeln!(text, "{name}{line}");
        }
    }
    text
}

/// What a sample is looked at for: each may tell of the others too.
#[derive(Clone, Copy)]
enum Kind {
    Server,
    Topic,
    Group,
}

/// What it is of besides a server, if it is of that kind.
fn labels(measure: &Measure, kind: Kind) -> Option<String> {
    match (measure, kind) {
        (Measure::Server(Series::GroupsLeftOut), Kind::Group)
        | (Measure::Server(_), Kind::Server) => Some(String::new()),
        (Measure::Topic(topic, _), Kind::Topic) => Some(format!(",topic=\"{}\"", escaped(topic))),
        (Measure::Group(group, _), Kind::Group) => Some(format!(",group=\"{}\"", escaped(group))),
        _ => None,
    }
}

/// Names of groups may hold anything.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

pub fn about() -> About {
    let example = "# TYPE castellan_cpu_percent gauge\n\
                   castellan_cpu_percent{server=\"u7k2m9qa-01\"} 12.5\n";
    About::new("Scrape the last sample of every server").needs(Right::SeeInstances).text(
        "Prometheus' text format",
        TEXT_FORMAT,
        example,
    )
}
