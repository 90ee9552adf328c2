//! Whether something can be sent there.

use crate::{App, Asked, Error, Result};
use model::{IntegrationConfig, IntegrationSystem, Secret};
use ship::{Destination, check_destination};
use std::collections::BTreeMap;

/// The settings that were given, by name; those that the system does not have say nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IntegrationFields(pub BTreeMap<&'static str, Secret>);

/// The settings that these fields are, if they are whole and lead nowhere that must not be
/// called.
pub(super) async fn validate(
    app: &App,
    system: IntegrationSystem,
    wanted: Asked<IntegrationFields>,
) -> Result<IntegrationConfig> {
    let (IntegrationFields(given), mut problems) = wanted.open()?;
    for field in system.fields().iter().filter(|field| field.required) {
        problems.required(field.name, given.get(field.name));
    }
    let has = |name: &str| system.fields().iter().any(|field| field.name == name);
    let written = given.iter().filter(|(name, _)| has(name));
    let written = written.map(|(name, value)| (*name, value.expose()));
    let config = match system.config(written) {
        Ok(config) => config,
        Err((field, wrong)) => {
            if !problems.has(&field) {
                problems.add(&field, wrong.to_string());
            }
            IntegrationConfig::new()
        }
    };
    problems.finish()?;
    let found = check_destination(system, &config);
    let found = found.map_err(|bad| Error::field(bad.field, bad.reason))?;
    if let Some(Destination { field, url }) = found
        && let Err(reason) = app.destinations.may_call(&url).await
    {
        return Err(Error::field(field, reason));
    }
    Ok(config)
}
