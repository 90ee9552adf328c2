//! The plans and regions on offer.

use crate::{App, Asked, Caller, Result, Right};
use model::{Plan, Region};

/// The software that runs on every plan of this catalogue.
pub const BACKEND: &str = "kafka";

/// Which plans to list.
#[derive(Clone, Debug, Default)]
pub struct PlanFilter {
    pub backend: Option<String>,
}

/// Plans by price, then name.
pub fn plans(caller: &Caller, app: &App, filter: Asked<PlanFilter>) -> Result<Vec<Plan>> {
    caller.may(Right::UseCatalogue)?;
    let filter = filter.checked()?;
    match filter.backend {
        Some(backend) if backend != BACKEND => Ok(Vec::new()),
        _ => Ok(app.catalogue.plans().to_vec()),
    }
}

/// Which regions to list.
#[derive(Clone, Debug, Default)]
pub struct RegionFilter {
    pub provider: Option<String>,
}

/// Regions by provider, then region.
pub fn regions(caller: &Caller, app: &App, filter: Asked<RegionFilter>) -> Result<Vec<Region>> {
    caller.may(Right::UseCatalogue)?;
    let wanted = filter.checked()?.provider;
    let regions = app.catalogue.regions().iter();
    Ok(regions
        .filter(|region| wanted.as_ref().is_none_or(|provider| *provider == region.provider))
        .cloned()
        .collect())
}
