//! `DELETE /api/vpcs/<id>`.

use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::VpcPath;
use crate::state::Api;
use app::{Right, vpcs};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    VpcPath(id): VpcPath,
) -> Result<StatusCode, Failure> {
    vpcs::delete(&caller, &api.app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about() -> About {
    About::new("Delete a network that no instance lives in")
        .needs(Right::CreateInstances)
        .refuses("The VPC is in use by instance 7; delete that first")
}
