//! `/api/plans` and `/api/regions`: what is on offer.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use app::Right;
use app::catalogue::{self, BACKEND, PlanFilter, RegionFilter};
use axum::Json;
use wire::customer::{Plan, Region};

/// `GET /api/plans`.
pub async fn plans(CustomerKey(caller, app): CustomerKey, query: Query) -> Answer<Vec<Plan>> {
    let plans = catalogue::plans(&caller, &app, query.ask(plan_filter))?;
    Ok(Json(plans.iter().map(plan_document).collect()))
}

fn plan_filter(fields: &mut Fields) -> PlanFilter {
    PlanFilter { backend: fields.text("backend") }
}

fn plan_document(plan: &model::Plan) -> Plan {
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

pub fn about_plans() -> About {
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

/// `GET /api/regions`.
pub async fn regions(CustomerKey(caller, app): CustomerKey, query: Query) -> Answer<Vec<Region>> {
    let regions = catalogue::regions(&caller, &app, query.ask(region_filter))?;
    Ok(Json(regions.into_iter().map(region_document).collect()))
}

fn region_filter(fields: &mut Fields) -> RegionFilter {
    RegionFilter { provider: fields.text("provider") }
}

fn region_document(region: model::Region) -> Region {
    Region {
        provider: region.provider,
        region: region.region,
        name: region.name,
        has_shared_plans: region.has_shared_plans,
    }
}

pub fn about_regions() -> About {
    let example = Region {
        provider: "local".into(),
        region: "this-machine".into(),
        name: "This machine".into(),
        has_shared_plans: true,
    };
    About::new("List the regions on offer")
        .needs(Right::UseCatalogue)
        .query(&[Input::text("provider", "Only regions of this provider")])
        .list("Regions by provider, then region", example)
}
