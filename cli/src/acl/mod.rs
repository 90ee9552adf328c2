//! `castellan acl`.

mod create;
mod delete;
mod list;

use crate::{Connection, output};
use clap::Subcommand;
use wire::users::Acl;

#[derive(Debug, Subcommand)]
pub enum AclCommand {
    /// List what Kafka users may do
    List(list::List),
    /// Give a Kafka user rights
    Create(create::Create),
    /// Take a right away
    Delete(delete::Delete),
}

pub async fn run(command: AclCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        AclCommand::List(options) => list::run(&options, connection).await,
        AclCommand::Create(options) => create::run(options, connection).await,
        AclCommand::Delete(options) => delete::run(&options, connection).await,
    }
}

fn print(acls: &[Acl], connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(&acls);
    }
    let row = |acl: &Acl| {
        let Acl { id, name, rule, created_at } = acl.clone();
        let (pattern, kind) = (rule.resource_pattern, rule.resource_pattern_type);
        let made = format!("{created_at:.0}");
        [id.to_string(), name, rule.operation, rule.resource, pattern, kind, made]
    };
    let headings = ["ID", "USER", "OPERATION", "RESOURCE", "PATTERN", "PATTERN TYPE", "CREATED"];
    output::print_table(&output::table(headings, acls.iter().map(row)))
}
