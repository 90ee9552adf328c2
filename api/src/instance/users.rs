//! `/api/users`.

use crate::about::{About, Input};
use crate::answer::{Answer, SecretJson};
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields};
use crate::path::Named;
use app::Right;
use app::users::{self, NewUserAsked};
use axum::Json;
use axum::http::StatusCode;
use model::Secret;
use web::error::Failure;
use wire::customer::Message;
use wire::users::{NewUser, User};

fn document(user: &app::users::User) -> wire::users::User {
    wire::users::User { name: user.name.clone(), kind: user.kind.as_str().into() }
}

fn example() -> wire::users::User {
    wire::users::User { name: "ada".into(), kind: "sasl".into() }
}

/// `GET /api/users`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<User>> {
    let users = users::list(&access, &app).await?;
    Ok(Json(users.iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List Kafka users")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("By name, the default user among them", example())
}

/// `POST /api/users`.
pub async fn create(
    Changing(access, app): Changing,
    body: Body,
) -> Result<(StatusCode, SecretJson<NewUser>), Failure> {
    let new = users::create(&access, &app, body.ask(asked)).await?;
    let answer = NewUser { user: document(&new.user), password: new.password };
    Ok((StatusCode::CREATED, SecretJson(answer)))
}

fn asked(fields: &mut Fields) -> NewUserAsked {
    NewUserAsked { name: fields.text("name"), kind: fields.text("type") }
}

pub fn about_create() -> About {
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

/// `DELETE /api/users/<name>`.
pub async fn delete(Changing(access, app): Changing, Named(name): Named) -> Answer<Message> {
    users::delete(&access, &app, &name).await?;
    Ok(Json(done()))
}

fn done() -> Message {
    Message { message: "The user and its rights are deleted".into() }
}

pub fn about_delete() -> About {
    About::new("Delete a Kafka user and its rights")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .json("It is gone", &done())
}
