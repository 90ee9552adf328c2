//! `castellan quota`.

use crate::output::or_dash;
use crate::{Connection, OnInstance, complete, output};
use anyhow::bail;
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use serde_json::{Map, Value, json};
use wire::quotas::Quota;

#[derive(Debug, Subcommand)]
pub enum QuotaCommand {
    /// List what users and client ids may use of each broker
    List(OnInstance),
    /// Set or remove limits
    Set(Set),
    /// Remove every limit
    Remove {
        #[command(flatten)]
        on: OnInstance,
        #[command(flatten)]
        of: Of,
    },
}

/// Whose limits they are.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub struct Of {
    /// A user, or <default> for those without a quota of their own
    #[arg(long, add = ArgValueCompleter::new(complete::kafka_users))]
    pub user: Option<String>,
    /// A client id, or <default>
    #[arg(long)]
    pub client_id: Option<String>,
}

pub async fn run(command: QuotaCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        QuotaCommand::List(on) => {
            print(&connection.client.quotas(on.id(connection).await?).await?, connection)
        }
        QuotaCommand::Set(options) => set(options, connection).await,
        QuotaCommand::Remove { on, of } => remove(&on, &of, connection).await,
    }
}

async fn remove(on: &OnInstance, of: &Of, connection: &Connection) -> anyhow::Result<()> {
    let id = on.id(connection).await?;
    let (user, client_id) = (of.user.as_deref(), of.client_id.as_deref());
    connection.client.remove_quota(id, user, client_id).await?;
    if connection.json {
        let removed = json!({ "user": user, "client_id": client_id, "removed": true });
        return output::print_json(&removed);
    }
    let whose = [("user", user), ("client id", client_id)];
    let named = |(kind, name): (&str, Option<&str>)| name.map(|name| format!("{kind} {name}"));
    let whose: Vec<String> = whose.into_iter().filter_map(named).collect();
    output::print_line(&format!("The limits of {} are removed", whose.join(" and ")))
}

fn print(quotas: &[Quota], connection: &Connection) -> anyhow::Result<()> {
    let row = |quota: &Quota| {
        [
            or_dash(quota.user.as_ref()),
            or_dash(quota.client_id.as_ref()),
            or_dash(quota.producer_byte_rate),
            or_dash(quota.consumer_byte_rate),
            or_dash(quota.request_percentage),
            or_dash(quota.controller_mutation_rate),
        ]
    };
    let headings =
        ["USER", "CLIENT ID", "PRODUCE B/S", "CONSUME B/S", "REQUESTS %", "PARTITIONS/S"];
    output::print_list(quotas, headings, row, connection)
}

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

/// `castellan quota set`.
async fn set(options: Set, connection: &Connection) -> anyhow::Result<()> {
    let (on, quota) = body(options)?;
    let id = on.id(connection).await?;
    let quota = connection.client.set_quota(id, &quota).await?;
    print(&[quota], connection)
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
