//! `castellan instance`.

mod create;
mod follow;
mod planned;
mod power;
mod servers;
mod update;
mod wait;
mod watch;

use crate::{Connection, OnInstance, output};
use anyhow::bail;
use clap::Subcommand;
use client::Client;
use comfy_table::Table;
use power::Verb;
use serde_json::json;
use wire::actions::Action;
use wire::customer::{Instance, InstanceEntry};

#[derive(Debug, Subcommand)]
pub enum InstanceCommand {
    /// List your instances
    List,
    /// Order an instance
    Create(create::Create),
    /// Show one instance
    Get(OnInstance),
    /// Change name, plan, servers or disks of an instance, while clients go on
    Update(update::Update),
    /// Give every server of an instance a larger disk
    Disk(update::Disk),
    /// Spread replicas and leaders evenly over the servers of an instance
    Rebalance(update::Rebalance),
    /// Restart every server of an instance, one at a time, or some of them
    Restart(power::Power),
    /// Stop every server of an instance, or some of them; data and addresses stay
    Stop(power::Power),
    /// Start a stopped instance, or some of its servers
    Start(power::Power),
    /// List what was asked of an instance, newest first
    Actions(OnInstance),
    /// Follow everything that goes on until it has ended
    Watch(OnInstance),
    /// Cancel a restart, or a change of settings, plan or servers
    Cancel(Cancel),
    /// Give an instance another key; the old one stops at once
    RotateApikey(OnInstance),
    /// Give the default user another password
    RotatePassword(OnInstance),
    /// Delete an instance and its data
    Delete(Delete),
}

pub async fn run(command: InstanceCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        InstanceCommand::List => list(connection).await,
        InstanceCommand::Create(options) => create::run(options, connection).await,
        InstanceCommand::Get(options) => get(&options, connection).await,
        InstanceCommand::Update(options) => update::update(&options, connection).await,
        InstanceCommand::Disk(options) => update::disk(&options, connection).await,
        InstanceCommand::Rebalance(options) => update::rebalance(&options, connection).await,
        InstanceCommand::Restart(options) => power::run(Verb::Restart, &options, connection).await,
        InstanceCommand::Stop(options) => power::run(Verb::Stop, &options, connection).await,
        InstanceCommand::Start(options) => power::run(Verb::Start, &options, connection).await,
        InstanceCommand::Actions(on) => actions(&on, connection).await,
        InstanceCommand::Watch(on) => watch::run(&on, connection).await,
        InstanceCommand::Cancel(options) => cancel(&options, connection).await,
        InstanceCommand::RotateApikey(on) => rotate_apikey(&on, connection).await,
        InstanceCommand::RotatePassword(on) => rotate_password(&on, connection).await,
        InstanceCommand::Delete(options) => delete(&options, connection).await,
    }
}

/// Instances that are read at the same moment.
const AT_ONCE: usize = 8;

/// `castellan instance list`.
async fn list(connection: &Connection) -> anyhow::Result<()> {
    let entries = connection.client.instances().await?;
    if connection.json {
        return output::print_json(&entries);
    }
    let instances = read(&connection.client, &entries).await?;
    output::print_table(&table(&instances))
}

/// The list of the API has no states, so each instance is read. One that was deleted
/// meanwhile is left out.
async fn read(client: &Client, entries: &[InstanceEntry]) -> anyhow::Result<Vec<Instance>> {
    let mut instances = Vec::new();
    for some in entries.chunks(AT_ONCE) {
        let reads = some.iter().map(|entry| {
            let (client, id) = (client.clone(), entry.id);
            tokio::spawn(async move { client.instance(id).await })
        });
        for read in reads.collect::<Vec<_>>() {
            match read.await? {
                Err(error) if error.is_not_found() => {}
                read => instances.push(read?),
            }
        }
    }
    Ok(instances)
}

fn table(instances: &[Instance]) -> Table {
    let row = |instance: &Instance| {
        let entry = &instance.entry;
        [
            entry.id.to_string(),
            entry.name.clone(),
            entry.plan.clone(),
            entry.region.clone(),
            instance.nodes.to_string(),
            instance.kafka_version.clone(),
            instance.status.clone(),
            entry.tags.join(","),
        ]
    };
    let headings = ["ID", "NAME", "PLAN", "REGION", "SERVERS", "VERSION", "STATE", "TAGS"];
    output::table(headings, instances.iter().map(row))
}

/// `castellan instance get`.
async fn get(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let instance = connection.client.instance(on.id(connection).await?).await?;
    print(&instance, connection)
}

pub fn print(instance: &Instance, connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(instance);
    }
    let Instance { entry, .. } = instance;
    output::print_table(&output::pairs([
        ("id", entry.id.to_string()),
        ("name", entry.name.clone()),
        ("plan", entry.plan.clone()),
        ("region", entry.region.clone()),
        ("tags", entry.tags.join(",")),
        ("kafka version", instance.kafka_version.clone()),
        ("ready", if instance.ready { "yes" } else { "no" }.into()),
        ("status", instance.status.clone()),
        ("brokers", instance.brokers.clone()),
        ("username", instance.username.clone()),
        ("password", instance.password.expose().to_owned()),
        ("apikey", instance.apikey.expose().to_owned()),
        ("url", instance.url.expose().to_owned()),
        ("created", instance.created_at.to_string()),
    ]))
}

/// `castellan instance actions`.
async fn actions(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let actions = connection.client.actions(on.id(connection).await?).await?;
    let row = |action: Action| {
        let servers = action.servers.join(",");
        let asked_at = format!("{:.0}", action.asked_at);
        let id = action.id.to_string();
        [id, action.kind, servers, asked_at, action.asked_by, action.state, action.status]
    };
    let headings = ["ID", "KIND", "SERVERS", "ASKED AT", "ASKED BY", "STATE", "STATUS"];
    output::print_list(actions, headings, row, connection)
}

#[derive(Debug, clap::Args)]
pub struct Cancel {
    #[command(flatten)]
    pub on: OnInstance,
    /// The action's id, of `castellan instance actions`
    pub action: i64,
}

/// `castellan instance cancel`.
async fn cancel(options: &Cancel, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let action = options.action;
    let answer = match connection.client.cancel_action(id, action).await {
        Err(error) if error.is_not_found() && connection.client.instance(id).await.is_ok() => {
            bail!(
                "instance {id} has no action {action}; \
                 `castellan instance actions {id}` shows what was asked of it"
            )
        }
        answer => answer?,
    };
    output::print_message(&answer, connection)
}

/// `castellan instance rotate-apikey`.
async fn rotate_apikey(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let id = on.id(connection).await?;
    let rotated = connection.client.rotate_instance_key(id).await?;
    let key = rotated.apikey.expose();
    let sentence = format!("The instance's old key has stopped; the new one is {key}");
    output::print_sentence(&rotated, &sentence, connection)
}

/// `castellan instance rotate-password`.
async fn rotate_password(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let id = on.id(connection).await?;
    connection.client.rotate_password(id).await?;
    let sentence =
        format!("The default user gets another password; `castellan instance get {id}` shows it");
    output::print_sentence(&json!({ "id": id, "rotated": true }), &sentence, connection)
}

#[derive(Debug, clap::Args)]
pub struct Delete {
    #[command(flatten)]
    pub on: OnInstance,
    /// Keep the network that was made for it
    #[arg(long)]
    pub keep_vpc: bool,
    /// Wait until nothing of it is left
    #[arg(long)]
    pub wait: bool,
}

/// `castellan instance delete`.
async fn delete(options: &Delete, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    if options.keep_vpc {
        connection.client.delete_instance_alone(id).await?;
    } else {
        connection.client.delete_instance(id).await?;
    }
    if options.wait {
        wait::until_gone(&connection.client, id).await?;
    }
    let became = if options.wait { "nothing of it is left" } else { "its servers are torn down" };
    let sentence = format!("Instance {id} is deleted; {became}");
    output::print_sentence(&json!({ "id": id, "deleted": true }), &sentence, connection)
}
