//! `GET /api/vpcs/<id>`.

use super::{document, example};
use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::VpcPath;
use crate::state::Api;
use app::{Right, vpcs};
use axum::Json;
use axum::extract::State;
use wire::customer::Vpc;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    VpcPath(id): VpcPath,
) -> Result<Json<Vpc>, Failure> {
    Ok(Json(document(vpcs::read(&caller, &api.app, id).await?)))
}

pub fn about() -> About {
    About::new("Read one network")
        .needs(Right::SeeInstances)
        .json("The network, and the instances in it that you may see", &example())
}
