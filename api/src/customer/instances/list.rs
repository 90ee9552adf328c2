//! `GET /api/instances`.

use super::{entry, example};
use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
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
    Page {
        page: fields.integer("page"),
        page_size: fields.integer("page_size"),
        deleting: fields.flag("deleting").unwrap_or_default(),
    }
}

pub fn about() -> About {
    About::new("List the instances you may see")
        .needs(Right::SeeInstances)
        .query(&[
            Input::integer("page", "From 1; without it and page_size everything is listed")
                .at_least(1),
            Input::integer("page_size", "1 to 1000; 100 if only the page is given")
                .at_least(1)
                .at_most(1000),
            Input::flag("deleting", "Those that are being torn down instead"),
        ])
        .list("Instances by id", example())
        .answer_header(&[("X-Total-Count", "How many there are on all pages")])
}
