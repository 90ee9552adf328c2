//! `PUT /api/instances/<ID>`.

use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::path::Id;
use crate::state::Api;
use app::instances::{self, InstanceChanges};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    Id(id): Id,
    body: Body,
) -> Result<Json<Message>, Failure> {
    instances::update(&caller, &api.app, id, body.ask(changes)).await?;
    Ok(Json(Message { message: "Changes saved".into() }))
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
    }
}
