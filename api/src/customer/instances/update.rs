//! `PUT /api/instances/<ID>`.

use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Counts, Input};
use crate::path::Id;
use crate::state::Api;
use app::Right;
use app::instances::{self, InstanceChanges};
use axum::Json;
use axum::extract::State;
use wire::customer::{Message, UpdateInstance};

const SAVED: &str = "Changes saved";

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    Id(id): Id,
    body: Body,
) -> Result<Json<Message>, Failure> {
    instances::update(&caller, &api.app, id, body.ask(changes)).await?;
    Ok(Json(Message { message: SAVED.into() }))
}

fn changes(fields: &mut Fields) -> InstanceChanges {
    InstanceChanges {
        name: fields.text("name"),
        plan: fields.text("plan"),
        nodes: fields.integer("nodes"),
        tags: fields.list_or_none("tags"),
        disk_size: fields.size("disk_size"),
        kafka_version: fields.text("kafka_version"),
        region: fields.text("region"),
        vpc_id: fields.integer("vpc_id"),
        vpc_subnet: fields.text("vpc_subnet"),
    }
}

pub fn about() -> About {
    let name = Some("orders".into());
    let asked = UpdateInstance { name, tags: Some(vec!["prod".into()]) };
    About::new("Change an instance")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &asked)
        .at_least_one(&[("name", Counts::Given), ("tags", Counts::EvenNull)])
        .json("It is changed", &Message { message: SAVED.into() })
}

/// Those that can change. The others may be sent as they are, because clients do.
const FIELDS: [Input; 2] = [
    Input::plain("name", "1 to 64 characters").at_most(64),
    Input::tags("tags", "Null or an empty list clears them; for admin and devops"),
];
