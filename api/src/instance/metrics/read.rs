//! `GET /api/metrics`.

use crate::auth::Seeing;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::metrics::{self, ReadFields, Told};
use axum::Json;
use axum::extract::State;
use wire::metrics::{Metrics, SeriesValues, ServerMetrics};

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
    query: Query,
) -> Result<Json<Metrics>, Failure> {
    Ok(Json(document(metrics::read(&access, &api.app, query.ask(fields)).await?)))
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

fn document(told: Told) -> Metrics {
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
        from: told.range.from,
        to: told.range.to,
        step: told.range.step,
        servers: told.servers.into_iter().map(server).collect(),
    }
}

pub fn about() -> About {
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
