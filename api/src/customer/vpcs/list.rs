//! `GET /api/vpcs`.

use super::{document, example};
use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, vpcs};
use axum::Json;
use axum::extract::State;
use wire::customer::Vpc;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
) -> Result<Json<Vec<Vpc>>, Failure> {
    let listed = vpcs::list(&caller, &api.app).await?;
    Ok(Json(listed.into_iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List the networks you may see")
        .needs(Right::SeeInstances)
        .list("Networks by id", example())
}
