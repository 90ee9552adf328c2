//! `GET /api/topics`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, topics};
use axum::Json;
use axum::extract::State;
use wire::topics::Topic;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<Topic>>, Failure> {
    let topics = topics::list(&access, &api.app).await?;
    Ok(Json(topics.iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List topics")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("By name, without Kafka's own", example())
}
