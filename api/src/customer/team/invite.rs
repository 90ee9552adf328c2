//! `POST /api/team/invite`.

use super::roles;
use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::team::{self, NewInvitation};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;
use wire::team::Invite;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    body: Body,
) -> Result<Json<Message>, Failure> {
    let email = team::invite(&caller, &api.app, body.ask(new_invitation)).await?;
    Ok(Json(sent(email.as_str())))
}

fn new_invitation(fields: &mut Fields) -> NewInvitation {
    NewInvitation {
        email: fields.text("email"),
        role: fields.text("role"),
        tags: fields.comma_list("tags"),
    }
}

fn sent(email: &str) -> Message {
    Message { message: format!("Invitation sent to {email}") }
}

pub fn about() -> About {
    let asked = Invite {
        email: "grace@example.com".into(),
        role: Some("member".into()),
        tags: Some("prod,eu".into()),
    };
    About::new("Invite somebody to the team")
        .needs(Right::ManageTeam)
        .body(&FIELDS, &asked)
        .json("A link was sent that works once, for 7 days", &sent(&asked.email))
}

const FIELDS: [Input; 3] = [
    Input::email("email", "Whom to invite; inviting again replaces the link").required(),
    Input::text("role", "member if not given").one_of(roles),
    Input::comma_list("tags", "Comma-separated, for member and monitor: the instances they see"),
];
