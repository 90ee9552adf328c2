//! `castellan vpc`.

use crate::{Connection, complete, output};
use anyhow::bail;
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use serde_json::json;
use wire::customer::{CreateVpc, UpdateVpc, Vpc};

#[derive(Debug, Subcommand)]
pub enum VpcCommand {
    /// List your networks
    List,
    /// Show one network
    Get(OnVpc),
    /// Make a network; instances are put into it with `castellan instance create --vpc-id`
    Create(Create),
    /// Change name or tags
    Update(Update),
    /// Delete a network that no instance lives in
    Delete(OnVpc),
}

// No doc comment, because that would be the help text of the verb.
#[derive(Debug, clap::Args)]
pub struct OnVpc {
    /// Id or name of the network
    #[arg(value_name = "VPC", add = ArgValueCompleter::new(complete::vpcs))]
    vpc: String,
}

impl OnVpc {
    /// A number is always an id; names need not be unique.
    async fn id(&self, connection: &Connection) -> anyhow::Result<i64> {
        let name = &self.vpc;
        if let Ok(id) = name.parse() {
            return Ok(id);
        }
        let mut named = connection.client.vpcs().await?;
        named.retain(|vpc| &vpc.name == name);
        let ids: Vec<String> = named.iter().map(|vpc| vpc.id.to_string()).collect();
        match named.as_slice() {
            [one] => Ok(one.id),
            [] => bail!("there is no network {name}; `castellan vpc list` shows yours"),
            _ => bail!("several networks are called {name}; give an id: {}", ids.join(", ")),
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct Create {
    #[arg(long)]
    name: String,
    /// One of `castellan region list`
    #[arg(long)]
    region: String,
    /// A private range from /16 to /28, such as 10.56.72.0/24
    #[arg(long)]
    subnet: String,
    /// May be given several times
    #[arg(long = "tag")]
    tags: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct Update {
    #[command(flatten)]
    on: OnVpc,
    #[arg(long)]
    name: Option<String>,
    /// May be given several times; replaces all tags
    #[arg(long = "tag")]
    tags: Vec<String>,
    /// Take all tags away
    #[arg(long, conflicts_with = "tags")]
    no_tags: bool,
}

pub async fn run(command: VpcCommand, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    match command {
        VpcCommand::List => print(&client.vpcs().await?, connection),
        VpcCommand::Get(on) => {
            let id = on.id(connection).await?;
            print_one(client.vpc(id).await?, connection)
        }
        VpcCommand::Create(Create { name, region, subnet, tags }) => {
            let created = client.create_vpc(&CreateVpc { name, region, subnet, tags }).await?;
            print_one(client.vpc(created.id).await?, connection)
        }
        VpcCommand::Update(options) => update(options, connection).await,
        VpcCommand::Delete(on) => {
            let id = on.id(connection).await?;
            client.delete_vpc(id).await?;
            let deleted = json!({ "id": id, "deleted": true });
            output::print_sentence(&deleted, &format!("Network {id} is deleted"), connection)
        }
    }
}

/// `castellan vpc update`.
async fn update(options: Update, connection: &Connection) -> anyhow::Result<()> {
    let tags = (options.no_tags || !options.tags.is_empty()).then_some(options.tags);
    if options.name.is_none() && tags.is_none() {
        bail!("nothing to change; give --name, --tag or --no-tags");
    }
    let id = options.on.id(connection).await?;
    let changes = UpdateVpc { name: options.name, tags };
    output::print_message(&connection.client.update_vpc(id, &changes).await?, connection)
}

fn print_one(vpc: Vpc, connection: &Connection) -> anyhow::Result<()> {
    if connection.json { output::print_json(&vpc) } else { print(&[vpc], connection) }
}

fn print(vpcs: &[Vpc], connection: &Connection) -> anyhow::Result<()> {
    let row = |vpc: &Vpc| {
        let instances: Vec<String> = vpc.instances.iter().map(ToString::to_string).collect();
        [
            vpc.id.to_string(),
            vpc.name.clone(),
            vpc.region.clone(),
            vpc.subnet.clone(),
            instances.join(","),
            vpc.tags.join(","),
        ]
    };
    let headings = ["ID", "NAME", "REGION", "SUBNET", "INSTANCES", "TAGS"];
    output::print_list(vpcs, headings, row, connection)
}
