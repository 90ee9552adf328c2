//! `castellan acl`.

use crate::{Connection, OnInstance, complete, output};
use anyhow::bail;
use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use clap_complete::ArgValueCompleter;
use wire::users::{Acl, CreateAcls, Rule};

#[derive(Debug, Subcommand)]
pub enum AclCommand {
    /// List what Kafka users may do
    List(List),
    /// Give a Kafka user rights
    Create(Create),
    /// Take a right away
    Delete(Delete),
}

pub async fn run(command: AclCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        AclCommand::List(options) => list(&options, connection).await,
        AclCommand::Create(options) => create(options, connection).await,
        AclCommand::Delete(options) => delete(&options, connection).await,
    }
}

fn print(acls: &[Acl], connection: &Connection) -> anyhow::Result<()> {
    let row = |acl: &Acl| {
        let Acl { id, name, rule, created_at } = acl.clone();
        let (pattern, kind) = (rule.resource_pattern, rule.resource_pattern_type);
        let made = format!("{created_at:.0}");
        [id.to_string(), name, rule.operation, rule.resource, pattern, kind, made]
    };
    let headings = ["ID", "USER", "OPERATION", "RESOURCE", "PATTERN", "PATTERN TYPE", "CREATED"];
    output::print_list(acls, headings, row, connection)
}

#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    on: OnInstance,
    /// Only of this user
    #[arg(long, add = ArgValueCompleter::new(complete::kafka_users))]
    user: Option<String>,
}

/// `castellan acl list`.
async fn list(options: &List, connection: &Connection) -> anyhow::Result<()> {
    let mut acls = connection.client.acls(options.on.id(connection).await?).await?;
    if let Some(user) = &options.user {
        acls.retain(|acl| &acl.name == user);
    }
    print(&acls, connection)
}

const OPERATIONS: [&str; 13] = [
    "read",
    "write",
    "create",
    "delete",
    "alter",
    "describe",
    "clusteraction",
    "describeconfigs",
    "alterconfigs",
    "idempotentwrite",
    "createtokens",
    "describetokens",
    "all",
];
const CLUSTER: &str = "cluster";
const RESOURCES: [&str; 4] = [CLUSTER, "topic", "group", "transactionalid"];
/// How Kafka calls the one thing of its kind.
const THE_CLUSTER: &str = "kafka-cluster";

#[derive(Debug, clap::Args)]
pub struct Create {
    #[command(flatten)]
    on: OnInstance,
    /// Who gets it
    #[arg(long, add = ArgValueCompleter::new(complete::kafka_users))]
    user: String,
    /// What may be done; may be given several times. On the cluster clusteraction and
    /// alterconfigs are the service's own, and brokers grant them to no user
    #[arg(
        long = "operation",
        required = true,
        ignore_case = true,
        value_parser = PossibleValuesParser::new(OPERATIONS)
    )]
    operations: Vec<String>,
    /// With what
    #[arg(long, ignore_case = true, value_parser = PossibleValuesParser::new(RESOURCES))]
    resource: String,
    /// Its name, or * for all; not needed for the cluster
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::topics))]
    pattern: Option<String>,
    /// All whose name begins with the pattern
    #[arg(long, requires = "pattern")]
    prefixed: bool,
}

/// `castellan acl create`.
async fn create(options: Create, connection: &Connection) -> anyhow::Result<()> {
    let Create { on, user, operations, resource, pattern, prefixed } = options;
    let of_cluster = resource.eq_ignore_ascii_case(CLUSTER);
    let Some(pattern) = pattern.or_else(|| of_cluster.then(|| THE_CLUSTER.into())) else {
        bail!("say which {resource} with --pattern NAME; --pattern '*' means all");
    };
    let rule = |operation| Rule {
        operation,
        resource: resource.clone(),
        resource_pattern: pattern.clone(),
        resource_pattern_type: if prefixed { "prefixed" } else { "literal" }.into(),
    };
    let new = CreateAcls { user, rules: operations.into_iter().map(rule).collect() };
    let id = on.id(connection).await?;
    print(&connection.client.create_acls(id, &new).await?, connection)
}

#[derive(Debug, clap::Args)]
pub struct Delete {
    #[command(flatten)]
    on: OnInstance,
    /// Its id, of `castellan acl list`
    #[arg(value_name = "ACL", add = ArgValueCompleter::new(complete::acls))]
    acl: i64,
}

/// `castellan acl delete`.
async fn delete(options: &Delete, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    output::print_message(&connection.client.delete_acl(id, options.acl).await?, connection)
}
