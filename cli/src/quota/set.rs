//! `castellan quota set`.

use super::Of;
use crate::{Connection, OnInstance};
use anyhow::bail;
use serde_json::{Map, Value};

#[derive(Debug, clap::Args)]
pub struct Set {
    #[command(flatten)]
    on: OnInstance,
    #[command(flatten)]
    of: Of,
    /// Bytes a second and broker, or none
    #[arg(long, value_name = "LIMIT")]
    producer_byte_rate: Option<String>,
    /// Bytes a second and broker, or none
    #[arg(long, value_name = "LIMIT")]
    consumer_byte_rate: Option<String>,
    /// Percent of one thread's time on each broker, or none
    #[arg(long, value_name = "LIMIT")]
    request_percentage: Option<String>,
    /// Partitions made or deleted a second, or none
    #[arg(long, value_name = "LIMIT")]
    controller_mutation_rate: Option<String>,
}

pub async fn run(options: Set, connection: &Connection) -> anyhow::Result<()> {
    let (on, quota) = body(options)?;
    let id = on.id(connection).await?;
    let quota = connection.client.set_quota(id, &quota).await?;
    super::print(&[quota], connection)
}

/// What is not named stays as it is.
fn body(options: Set) -> anyhow::Result<(OnInstance, Map<String, Value>)> {
    let mut body = Map::new();
    for (name, limit) in [
        ("producer_byte_rate", options.producer_byte_rate),
        ("consumer_byte_rate", options.consumer_byte_rate),
        ("request_percentage", options.request_percentage),
        ("controller_mutation_rate", options.controller_mutation_rate),
    ] {
        let Some(limit) = limit else { continue };
        let value = match limit.parse::<f64>() {
            // Anything else that is parsed has no place in JSON, and would become null.
            Ok(limit) if limit.is_finite() => limit.into(),
            Err(_) if limit == "none" => Value::Null,
            _ => bail!("{limit} is neither a number nor none"),
        };
        body.insert(name.into(), value);
    }
    if body.is_empty() {
        bail!("nothing to set; give a limit, such as --producer-byte-rate 1048576");
    }
    for (name, who) in [("user", options.of.user), ("client_id", options.of.client_id)] {
        if let Some(who) = who {
            body.insert(name.into(), who.into());
        }
    }
    Ok((options.on, body))
}
