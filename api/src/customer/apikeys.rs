//! `/api/apikeys`.

use super::team::roles;
use crate::about::{About, Input};
use crate::answer::{Answer, SecretJson};
use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::path::KeyPath;
use app::Right;
use app::apikeys::{self, KeyOf, NewOwnKey};
use axum::Json;
use axum::http::StatusCode;
use model::Secret;
use web::error::Failure;
use wire::apikeys::{ApiKeyEntry, CreateApiKey, CreatedApiKey, RotatedKey};

/// `GET /api/apikeys`.
pub async fn list(CustomerKey(caller, app): CustomerKey) -> Answer<Vec<ApiKeyEntry>> {
    let keys = apikeys::list_visible(&caller, &app).await?;
    Ok(Json(keys.into_iter().map(entry).collect()))
}

fn entry(KeyOf { key, email }: KeyOf) -> ApiKeyEntry {
    ApiKeyEntry {
        id: key.id.to_string(),
        email,
        comment: key.comment,
        role: key.role.to_string(),
        tags: key.tags.into(),
        created_at: key.created_at,
        last_used_at: key.last_used_at,
        last_used_from: key.last_used_from.map(|address| address.to_string()),
        expires_at: key.expires_at,
    }
}

pub fn about_list() -> About {
    let at = |text: &str| text.parse().expect("an example is a time");
    let example = ApiKeyEntry {
        id: "3f0c1a52-7a64-4f5e-9b1b-2f7f5a1c9d10".into(),
        email: "ada@example.com".into(),
        comment: "terraform".into(),
        role: "devops".into(),
        tags: vec![],
        created_at: at("2026-11-15T12:00:00Z"),
        last_used_at: Some(at("2026-11-15T12:30:00Z")),
        last_used_from: Some("192.0.2.7".into()),
        expires_at: None,
    };
    About::new("List your own keys; for admins those of the whole account")
        .needs(Right::UseOwnAccess)
        .list("Keys by age, without the keys themselves", example)
}

/// `POST /api/apikeys`.
pub async fn create(
    CustomerKey(caller, app): CustomerKey,
    body: Body,
) -> Result<SecretJson<CreatedApiKey>, Failure> {
    let (key, apikey) = apikeys::create_own(&caller, &app, body.ask(new_key)).await?;
    Ok(SecretJson(CreatedApiKey { id: key.id.to_string(), apikey }))
}

fn new_key(fields: &mut Fields) -> NewOwnKey {
    NewOwnKey {
        comment: fields.text("comment"),
        role: fields.text("role"),
        tags: fields.list("tags"),
        expires_at: fields.text("expires_at"),
    }
}

pub fn about_create() -> About {
    let asked = CreateApiKey {
        comment: Some("dashboard".into()),
        role: Some("monitor".into()),
        tags: Some(vec!["prod".into()]),
        expires_at: Some(EXPIRES.into()),
    };
    let id = "3f0c1a52-7a64-4f5e-9b1b-2f7f5a1c9d10".into();
    let example = CreatedApiKey { id, apikey: Secret::new("the-new-key") };
    About::new("Make a key for yourself")
        .needs(Right::UseOwnAccess)
        .optional_body(&CREATE_FIELDS, &asked)
        .refuses("A user can have at most 50 API keys; delete those that are not needed")
        .json("The key, which is shown only now", &example)
}

const EXPIRES: &str = "2035-01-01T00:00:00Z";
const CREATE_FIELDS: [Input; 4] = [
    Input::plain("comment", "What it is for").at_most(255),
    Input::text("role", "As much as you may if not given, and never more").one_of(roles),
    Input::tags("tags", "For member and monitor: the instances it sees, of those that you see"),
    Input::text("expires_at", "A time such as 2035-01-01T00:00:00Z; never if not given")
        .such_as(EXPIRES),
];

/// `DELETE /api/apikeys/<id>`.
pub async fn delete(
    CustomerKey(caller, app): CustomerKey,
    KeyPath(id): KeyPath,
) -> Result<StatusCode, Failure> {
    apikeys::delete(&caller, &app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_delete() -> About {
    About::new("Delete a key of your own; for admins any of the account").needs(Right::UseOwnAccess)
}

/// `POST /api/apikeys/rotate-apikey`.
pub async fn rotate(
    CustomerKey(caller, app): CustomerKey,
) -> Result<SecretJson<RotatedKey>, Failure> {
    let apikey = apikeys::rotate(&caller, &app).await?;
    Ok(SecretJson(RotatedKey { apikey }))
}

pub fn about_rotate() -> About {
    let example = RotatedKey { apikey: Secret::new("the-new-key") };
    About::new("Replace the key of this request by a new one")
        .needs(Right::UseOwnAccess)
        .json("The old key has stopped; role, tags, comment and expiry are the same", &example)
}
