//! `POST /api/groups/<name>/reset`.

use crate::auth::Changing;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::path::Named;
use crate::state::Api;
use app::Right;
use app::groups::{self, Moved, Reset};
use axum::Json;
use axum::extract::State;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    Named(name): Named,
    body: Body,
) -> Result<Json<Vec<wire::groups::Moved>>, Failure> {
    let moved = groups::reset(&access, &api.app, &name, body.ask(reset)).await?;
    Ok(Json(moved.iter().map(row).collect()))
}

fn reset(fields: &mut Fields) -> Reset {
    Reset {
        strategy: fields.text("strategy"),
        datetime: fields.text("datetime"),
        shift_by: fields.integer("shift_by"),
        topics: fields.list("topics"),
        dry_run: fields.flag("dry_run"),
    }
}

fn row(moved: &Moved) -> wire::groups::Moved {
    wire::groups::Moved {
        topic: moved.at.topic.clone(),
        partition: moved.at.partition.into(),
        offset: moved.from,
        new_offset: moved.to,
    }
}

pub fn about() -> About {
    let asked = wire::groups::Reset {
        strategy: "to-earliest".into(),
        topics: Some(vec!["orders".into()]),
        dry_run: Some(false),
        ..wire::groups::Reset::default()
    };
    let moved = wire::groups::Moved {
        topic: "orders".into(),
        partition: 0,
        offset: Some(30),
        new_offset: 0,
    };
    About::new("Have a consumer group without members go on from elsewhere")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .body(&FIELDS, &asked)
        .when("strategy", &["to-datetime"], &[AT])
        .when("strategy", &["shift-by"], &[BY])
        .list("Where it goes on, or would, by topic and partition", moved)
}

const AT: Input = Input::text("datetime", "A time").such_as("2026-11-15T12:00:00Z").required();
const BY: Input = Input::integer("shift_by", "So many messages").required();

const FIELDS: [Input; 5] = [
    Input::text("strategy", "Where it goes on")
        .required()
        .one_of(|| vec!["to-earliest", "to-latest", "to-datetime", "shift-by"]),
    Input::text("datetime", "Of to-datetime: a time such as 2026-11-15T12:00:00Z"),
    Input::integer("shift_by", "Of shift-by: so many messages further, or back if negative"),
    Input::list("topics", "Topics, as orders, or partitions, as orders:0; all it has committed"),
    Input::flag("dry_run", "Tell what would be, and change nothing"),
];
