//! `GET /api/instances`.

use super::entry;
use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::state::Api;
use app::instances::{self, Page};
use axum::Json;
use axum::extract::State;
use wire::customer::InstanceEntry;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    query: Query,
) -> Result<([(&'static str, String); 1], Json<Vec<InstanceEntry>>), Failure> {
    let listed = instances::list(&caller, &api.app, query.ask(page)).await?;
    let total = [("x-total-count", listed.total.to_string())];
    Ok((total, Json(listed.instances.iter().map(entry).collect())))
}

fn page(fields: &mut Fields) -> Page {
    Page { page: fields.integer("page"), page_size: fields.integer("page_size") }
}
