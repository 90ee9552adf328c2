//! `PUT /api/team/<user-id>`.

use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::path::Member;
use crate::state::Api;
use app::Right;
use app::team::{self, RoleChanges};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;
use wire::team::UpdateMember;

const UPDATED: &str = "Role and tags were updated";

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    Member(id): Member,
    body: Body,
) -> Result<Json<Message>, Failure> {
    team::update(&caller, &api.app, id, body.ask(changes)).await?;
    Ok(Json(Message { message: UPDATED.into() }))
}

fn changes(fields: &mut Fields) -> RoleChanges {
    RoleChanges { role: fields.text("role"), tags: fields.comma_list("tags") }
}

pub fn about() -> About {
    let asked = UpdateMember { role: Some("monitor".into()), tags: Some("prod,eu".into()) };
    About::new("Change the role and tags of a member")
        .needs(Right::ManageTeam)
        .body(&FIELDS, &asked)
        .json("It counts from their next request on", &Message { message: UPDATED.into() })
}

const FIELDS: [Input; 2] = [
    Input::text("role", "admin, devops, member, monitor or billing manager"),
    Input::comma_list("tags", "Comma-separated, for member and monitor; an empty text clears them"),
];
