//! `castellan acl create`.

use crate::{Connection, OnInstance, complete};
use anyhow::bail;
use clap::builder::PossibleValuesParser;
use clap_complete::ArgValueCompleter;
use wire::users::{CreateAcls, Rule};

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

pub async fn run(options: Create, connection: &Connection) -> anyhow::Result<()> {
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
    super::print(&connection.client.create_acls(id, &new).await?, connection)
}
