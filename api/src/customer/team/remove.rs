//! `POST /api/team/remove`.

use crate::auth::CustomerKey;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::{Right, team};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;
use wire::team::RemoveMember;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    body: Body,
) -> Result<Json<Message>, Failure> {
    let email = team::remove(&caller, &api.app, body.ask(|fields| fields.text("email"))).await?;
    Ok(Json(removed(&email)))
}

fn removed(email: &str) -> Message {
    Message { message: format!("{email} was deleted from the team") }
}

pub fn about() -> About {
    let asked = RemoveMember { email: "ada@example.com".into() };
    About::new("Remove somebody from the team")
        .needs(Right::ManageTeam)
        .body(&[Input::text("email", "A member, or somebody who was invited").required()], &asked)
        .or_not_found()
        .json("They are out, and their keys stop at once", &removed(&asked.email))
}
