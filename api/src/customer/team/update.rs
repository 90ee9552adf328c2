//! `PUT /api/team/<user-id>`.

use super::roles;
use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Counts, Input};
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
        .at_least_one(&[("role", Counts::Given), ("tags", Counts::EvenEmpty)])
        .json("It counts from their next request on", &Message { message: UPDATED.into() })
}

const FIELDS: [Input; 2] = [
    Input::text("role", "What they may do").one_of(roles),
    Input::comma_list("tags", "Comma-separated, for member and monitor; an empty text clears them"),
];
