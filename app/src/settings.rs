//! The few settings of all brokers that a customer may choose.
//!
//! What was chosen is written down as intent. The engine writes what can change
//! while brokers run into Kafka, and restarts them one at a time for the rest.
//! `configured` reads false only until such a restart is done.

pub use kafka::settings::{KNOWN, Kind};

use crate::access::{on_servers_of_its_own, ready};
use crate::resources::{Cluster, demand_may_change};
use crate::{App, Asked, Error, InstanceAccess, Problems, Result, actions};
use kafka::settings::{MIN_IN_SYNC, at_start, bounds, known, while_running};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// By name: those alone that a customer set, at the value that was asked for.
pub fn list(access: &InstanceAccess, app: &App) -> Result<BTreeMap<String, String>> {
    on_servers_of_its_own(app, &access.instance)?;
    ready(&access.instance)?;
    Ok(access.instance.settings.clone())
}

/// By name; none of one that was sent without a value.
pub type Values = BTreeMap<String, Option<String>>;

/// Sets all of the values or none. Settings that are not named, or without a value, keep theirs; the latter are returned.
pub async fn update(
    access: &InstanceAccess,
    app: &App,
    asked: Asked<Values>,
) -> Result<Vec<String>> {
    access.may_change()?;
    let (asked, problems) = asked.open()?;
    let heap_mb = app.heap_mb(&access.instance);
    let chosen = validate(&asked, heap_mb, problems)?;
    let cluster = Cluster::of_its_own(access, app).await?;
    let replicas = chosen.get(MIN_IN_SYNC).and_then(|text| text.parse::<usize>().ok());
    let servers = cluster.servers();
    if replicas.is_some_and(|replicas| replicas > servers) {
        let what = format!("must be at most {servers}, the number of servers");
        return Err(Error::field(MIN_IN_SYNC, what));
    }
    if let Some(demand) = chosen.get(MIN_IN_SYNC)
        && access.instance.settings.get(MIN_IN_SYNC) != Some(demand)
    {
        demand_may_change(access, &cluster, None).await?;
    }
    // Kafka has a say before anything is written down.
    let changes = &while_running(&chosen);
    if !changes.is_empty() {
        cluster.ask(|admin, at| admin.settings().check_settings(at, changes)).await?;
    }
    actions::configure(access, app, &chosen, &at_start(&chosen)).await?;
    let left = asked.into_iter().filter(|(_, text)| text.is_none());
    Ok(left.map(|(name, _)| name).collect())
}

fn validate(
    asked: &Values,
    heap_mb: Option<u32>,
    mut problems: Problems,
) -> Result<BTreeMap<String, String>> {
    let mut chosen = BTreeMap::new();
    for (name, text) in asked {
        let Some(known) = known(name) else {
            let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
            problems.add(name, format!("can't be set; these can: {}", names.join(", ")));
            continue;
        };
        let Some(text) = text else { continue };
        let bounds = heap_mb.and_then(|heap_mb| bounds(name, heap_mb));
        let value = known.value(text).and_then(|value| fits_plan(value, bounds));
        if let Some(value) = problems.take(name, value) {
            chosen.insert(name.clone(), value);
        }
    }
    problems.finish()?;
    Ok(chosen)
}

/// Some numbers are bound by the heap of the plan's brokers.
fn fits_plan(
    value: String,
    bounds: Option<RangeInclusive<i64>>,
) -> std::result::Result<String, String> {
    match (value.parse::<i64>(), bounds) {
        (Ok(number), Some(bounds)) if !bounds.contains(&number) => Err(format!(
            "must be a number from {} to {} on servers of this plan",
            bounds.start(),
            bounds.end()
        )),
        _ => Ok(value),
    }
}
