//! `POST /api/users`.

use super::{document, example};
use crate::answer::SecretJson;
use crate::auth::Changing;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::users::{self, NewUserAsked};
use axum::extract::State;
use axum::http::StatusCode;
use model::Secret;
use wire::users::{NewUser, User};

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<(StatusCode, SecretJson<NewUser>), Failure> {
    let new = users::create(&access, &api.app, body.ask(asked)).await?;
    let answer = NewUser { user: document(&new.user), password: new.password };
    Ok((StatusCode::CREATED, SecretJson(answer)))
}

fn asked(fields: &mut Fields) -> NewUserAsked {
    NewUserAsked { name: fields.text("name"), kind: fields.text("type") }
}

pub fn about() -> About {
    let user = User { name: "bob".into(), ..example() };
    let password = Some(Secret::new("told-this-once"));
    About::new("Make a Kafka user")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .body(&FIELDS, &user)
        .created_json(
            "The user is there; the password is told this once, to ssl users none",
            &NewUser { user, password },
        )
}

const FIELDS: [Input; 2] = [
    Input::text("name", "1 to 64 letters, digits, dots, underscores and hyphens")
        .required()
        .at_most(64)
        .like("^[A-Za-z0-9._-]+$"),
    Input::text("type", "sasl if not given").one_of(|| vec!["sasl", "ssl"]),
];
