//! `GET /api/quotas`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, quotas};
use axum::Json;
use axum::extract::State;
use wire::quotas::Quota;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<Quota>>, Failure> {
    let quotas = quotas::list(&access, &api.app).await?;
    Ok(Json(quotas.iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List what users and client ids may use of each broker")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("Quotas, by user and then by client id", example())
}
