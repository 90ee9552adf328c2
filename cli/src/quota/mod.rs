//! `castellan quota`.

mod set;

use crate::{Connection, OnInstance, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use serde_json::json;
use wire::quotas::Quota;

#[derive(Debug, Subcommand)]
pub enum QuotaCommand {
    /// List what users and client ids may use of each broker
    List(OnInstance),
    /// Set or remove limits
    Set(set::Set),
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
        QuotaCommand::Set(options) => set::run(options, connection).await,
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
    if connection.json {
        return output::print_json(&quotas);
    }
    let row = |quota: &Quota| {
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
        let limit = |limit: Option<f64>| limit.map_or_else(|| "-".to_owned(), |it| it.to_string());
        [
            name(&quota.user),
            name(&quota.client_id),
            limit(quota.producer_byte_rate),
            limit(quota.consumer_byte_rate),
            limit(quota.request_percentage),
            limit(quota.controller_mutation_rate),
        ]
    };
    let headings =
        ["USER", "CLIENT ID", "PRODUCE B/S", "CONSUME B/S", "REQUESTS %", "PARTITIONS/S"];
    output::print_table(&output::table(headings, quotas.iter().map(row)))
}
