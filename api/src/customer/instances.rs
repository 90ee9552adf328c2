//! `/api/instances`.

pub mod account;
pub mod actions;
pub mod create;
pub mod disk;
pub mod firewall;
pub mod read;
pub mod update;

use crate::about::{About, Input};
use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::path::Id;
use app::Right;
use app::instances::{self, Deletion, Page};
use axum::Json;
use axum::http::StatusCode;
use web::error::Failure;
use wire::customer::InstanceEntry;

/// What list and read both say of an instance.
fn entry(instance: &model::Instance) -> wire::customer::InstanceEntry {
    wire::customer::InstanceEntry {
        id: instance.id.0,
        plan: instance.plan.to_string(),
        region: instance.region.to_string(),
        name: instance.name.to_string(),
        tags: instance.tags.as_slice().to_vec(),
        providerid: instance.provider_id.to_string(),
    }
}

fn example() -> wire::customer::InstanceEntry {
    wire::customer::InstanceEntry {
        id: 7,
        plan: "mouse-1".into(),
        region: "local::this-machine".into(),
        name: "orders".into(),
        tags: vec!["prod".into()],
        providerid: "0c2a4a5e-4f0b-4d0e-9a53-2d0d2f7c1b9a".into(),
    }
}

/// `GET /api/instances`.
pub async fn list(
    CustomerKey(caller, app): CustomerKey,
    query: Query,
) -> Result<([(&'static str, String); 1], Json<Vec<InstanceEntry>>), Failure> {
    let listed = instances::list(&caller, &app, query.ask(page)).await?;
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

pub fn about_list() -> About {
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

/// `DELETE /api/instances/<ID>`.
pub async fn delete(
    CustomerKey(caller, app): CustomerKey,
    Id(id): Id,
    query: Query,
) -> Result<StatusCode, Failure> {
    instances::delete(&caller, &app, id, query.ask(deletion)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn deletion(fields: &mut Fields) -> Deletion {
    Deletion { keep_vpc: fields.flag("keep_vpc").unwrap_or_default() }
}

pub fn about_delete() -> About {
    About::new("Delete an instance and its data")
        .needs(Right::CreateInstances)
        .query(&[Input::flag("keep_vpc", "Keep the network that the create made")])
}
