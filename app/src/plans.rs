//! The plans on offer.

use crate::{App, Asked, Caller, Result, Right};
use model::Plan;

/// The software that runs on every plan of this catalogue.
pub const BACKEND: &str = "kafka";

/// What to leave out of the list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub backend: Option<String>,
}

/// Plans by price, then name.
pub fn list(caller: &Caller, app: &App, filter: Asked<Filter>) -> Result<Vec<Plan>> {
    caller.may(Right::UseCatalogue)?;
    let filter = filter.checked()?;
    match filter.backend {
        Some(backend) if backend != BACKEND => Ok(Vec::new()),
        _ => Ok(app.catalogue.plans().to_vec()),
    }
}
