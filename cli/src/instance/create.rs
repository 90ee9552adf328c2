//! `castellan instance create`.

use super::wait;
use crate::{Connection, complete};
use clap_complete::ArgValueCompleter;
use wire::customer::CreateInstance;

// `--version` is Kafka's here, not the program's.
#[derive(Debug, clap::Args)]
#[command(disable_version_flag = true)]
pub struct Create {
    #[arg(long)]
    pub name: String,
    /// One of `castellan plan list`
    #[arg(long)]
    pub plan: String,
    /// One of `castellan region list`
    #[arg(long)]
    pub region: String,
    /// Kafka version; the newest if not given
    #[arg(long)]
    pub version: Option<String>,
    /// May be given several times
    #[arg(long = "tag")]
    pub tags: Vec<String>,
    /// Gigabytes a server, if more than the plan's
    #[arg(long)]
    pub disk_size: Option<u32>,
    /// Subnet of its network, in CIDR notation
    #[arg(long)]
    pub vpc_subnet: Option<String>,
    /// A network that is there, for the instance to live in
    #[arg(long, conflicts_with = "vpc_subnet", add = ArgValueCompleter::new(complete::vpc_ids))]
    pub vpc_id: Option<i64>,
    /// Return only when it is ready
    #[arg(long)]
    pub wait: bool,
}

pub async fn run(options: Create, connection: &Connection) -> anyhow::Result<()> {
    let new = CreateInstance {
        name: options.name,
        plan: options.plan,
        region: options.region,
        vpc_subnet: options.vpc_subnet,
        vpc_id: options.vpc_id,
        nodes: None,
        kafka_version: options.version,
        tags: options.tags,
        disk_size: options.disk_size,
    };
    let created = connection.client.create_instance(&new).await?;
    let instance = if options.wait {
        wait::until_ready(&connection.client, created.id).await?
    } else {
        connection.client.instance(created.id).await?
    };
    super::print(&instance, connection)
}
