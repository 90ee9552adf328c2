//! `GET /api/plans`.

use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::plans::{self, BACKEND, Filter};
use axum::Json;
use axum::extract::State;
use wire::customer::Plan;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    query: Query,
) -> Result<Json<Vec<Plan>>, Failure> {
    let plans = plans::list(&caller, &api.app, query.ask(filter))?;
    Ok(Json(plans.iter().map(document).collect()))
}

fn filter(fields: &mut Fields) -> Filter {
    Filter { backend: fields.text("backend") }
}

fn document(plan: &model::Plan) -> Plan {
    Plan {
        name: plan.name.to_string(),
        price: plan.price(),
        backend: BACKEND.into(),
        shared: plan.shared(),
        disk_size: plan.family.disk_gb,
        max_disk_size: plan.disk.max_gb,
        extra_disk_gb_cents: plan.disk.extra_gb_cents,
    }
}

pub fn about() -> About {
    let example = Plan {
        name: "mouse-1".into(),
        price: 99,
        backend: BACKEND.into(),
        shared: false,
        disk_size: 25,
        max_disk_size: 16_000,
        extra_disk_gb_cents: 20,
    };
    About::new("List the plans on offer")
        .needs(Right::UseCatalogue)
        .query(&[Input::text("backend", "Only plans of this software")])
        .list("Plans by price, then name", example)
}
