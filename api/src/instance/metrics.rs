//! `/api/metrics`: what the servers of an instance measured.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::Seeing;
use crate::body::{Fields, Query};
use app::Right;
use app::metrics::{self, Found, Latest, Measure, ReadFields};
use axum::Json;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use model::Series;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use web::error::Failure;
use wire::metrics::{Metrics, SeriesValues, ServerMetrics};

/// `GET /api/metrics`.
pub async fn read(Seeing(access, app): Seeing, query: Query) -> Answer<Metrics> {
    Ok(Json(document(metrics::read(&access, &app, query.ask(fields)).await?)))
}

fn fields(fields: &mut Fields) -> ReadFields {
    ReadFields {
        series: fields.list("series"),
        topic: fields.text("topic"),
        group: fields.text("group"),
        from: fields.text("from"),
        to: fields.text("to"),
        step: fields.integer("step"),
        of: fields.text("of"),
    }
}

fn document(found: Found) -> Metrics {
    let values = |found: metrics::Values| SeriesValues {
        name: found.measure.series().into(),
        unit: found.measure.unit().into(),
        topic: found.measure.topic().map(Into::into),
        group: found.measure.group().map(Into::into),
        values: found.values,
    };
    let server = |found: metrics::ServerValues| ServerMetrics {
        server: found.server,
        series: found.series.into_iter().map(values).collect(),
    };
    Metrics {
        from: found.range.from,
        to: found.range.to,
        step: found.range.step,
        servers: found.servers.into_iter().map(server).collect(),
    }
}

pub fn about_read() -> About {
    let values = SeriesValues {
        name: "topic_bytes_in_per_second".into(),
        unit: "B/s".into(),
        topic: Some("orders".into()),
        group: Some("billing".into()),
        values: vec![Some(1250.5), None],
    };
    let server = ServerMetrics { server: "u7k2m9qa-01".into(), series: vec![values] };
    let metrics =
        Metrics { from: 1_794_744_000, to: 1_794_744_020, step: 10, servers: vec![server] };
    About::new("Read what servers measured: 10 s for a day, 1 min for 7 days, 10 min for 30")
        .needs(Right::SeeInstances)
        .query(&[
            Input::text("from", "A time such as 2026-11-15T12:00:00Z, or Unix seconds; an hour before `to` if not given"),
            Input::text("to", "Likewise; now if not given"),
            Input::integer("step", "Seconds between values, a multiple of 10; chosen for at most 1000 values if not given")
                .at_least(10)
                .at_most(86_400)
                .multiple_of(10),
            Input::list("series", "All of a server's if not given; those of topics and groups by name alone")
                .such_as("cpu_percent"),
            Input::text("topic", "Of series of topics, this topic alone"),
            Input::text("group", "Of series of consumer groups, this group alone"),
            Input::text("of", "What stands for the points of one step; avg if not given")
                .one_of(|| vec!["avg", "max"])
                .such_as("avg"),
        ])
        .json("By server; the first value is of `from`, the next a step later, and null where nothing was measured", &metrics)
}

const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `GET /api/metrics/prometheus`: the last sample of every server, as Prometheus
/// scrapes it.
pub async fn prometheus(Seeing(access, app): Seeing) -> Result<Response, Failure> {
    let latest = metrics::latest(&access, &app).await?;
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

pub fn about_prometheus() -> About {
    let example = "# TYPE castellan_cpu_percent gauge\n\
                   castellan_cpu_percent{server=\"u7k2m9qa-01\"} 12.5\n";
    About::new("Scrape the last sample of every server").needs(Right::SeeInstances).text(
        "Prometheus' text format",
        TEXT_FORMAT,
        example,
    )
}
