//! `GET /api/regions`.

use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::regions::{self, Filter};
use axum::Json;
use axum::extract::State;
use wire::customer::Region;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    query: Query,
) -> Result<Json<Vec<Region>>, Failure> {
    let regions = regions::list(&caller, &api.app, query.ask(filter))?;
    Ok(Json(regions.into_iter().map(document).collect()))
}

fn filter(fields: &mut Fields) -> Filter {
    Filter { provider: fields.text("provider") }
}

fn document(region: model::Region) -> Region {
    Region {
        provider: region.provider,
        region: region.region,
        name: region.name,
        has_shared_plans: region.has_shared_plans,
    }
}

pub fn about() -> About {
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
