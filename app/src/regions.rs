//! The regions on offer.

use crate::{App, Asked, Caller, Result, Right};
use model::Region;

/// What to leave out of the list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub provider: Option<String>,
}

/// Regions by provider, then region.
pub fn list(caller: &Caller, app: &App, filter: Asked<Filter>) -> Result<Vec<Region>> {
    caller.may(Right::UseCatalogue)?;
    let wanted = filter.checked()?.provider;
    let regions = app.catalogue.regions().iter();
    Ok(regions
        .filter(|region| wanted.as_ref().is_none_or(|provider| *provider == region.provider))
        .cloned()
        .collect())
}
