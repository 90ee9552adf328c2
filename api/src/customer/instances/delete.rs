//! `DELETE /api/instances/<ID>`.

use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::path::Id;
use crate::state::Api;
use app::Right;
use app::instances::{self, Deletion};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    Id(id): Id,
    query: Query,
) -> Result<StatusCode, Failure> {
    instances::delete(&caller, &api.app, id, query.ask(deletion)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn deletion(fields: &mut Fields) -> Deletion {
    Deletion { keep_vpc: fields.flag("keep_vpc").unwrap_or_default() }
}

pub fn about() -> About {
    About::new("Delete an instance and its data")
        .needs(Right::CreateInstances)
        .query(&[Input::flag("keep_vpc", "Keep the network that the create made")])
}
