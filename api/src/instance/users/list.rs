//! `GET /api/users`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, users};
use axum::Json;
use axum::extract::State;
use wire::users::User;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<User>>, Failure> {
    let users = users::list(&access, &api.app).await?;
    Ok(Json(users.iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List Kafka users")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("By name, the default user among them", example())
}
