//! `castellan instance update`, `disk` and `rebalance`: changes that servers follow.

use super::{follow, planned};
use crate::{Connection, OnInstance, output};
use client::Client;
use wire::actions::{Accepted, Action};
use wire::customer::{ResizeDisk, UpdateInstance};

#[derive(Debug, clap::Args)]
pub struct Update {
    #[command(flatten)]
    pub on: OnInstance,
    /// Another name
    #[arg(long)]
    pub name: Option<String>,
    /// One of `castellan plan list`
    #[arg(long)]
    pub plan: Option<String>,
    /// How many servers; wins over the number in the plan's name
    #[arg(long)]
    pub nodes: Option<u32>,
    /// Gigabytes a server, never fewer than before
    #[arg(long)]
    pub disk_size: Option<u32>,
    /// One server may be left, with one copy of everything
    #[arg(long)]
    pub accept_single_copy: bool,
    /// When one server becomes several, topics of one replica keep it
    #[arg(long)]
    pub keep_replication: bool,
    #[command(flatten)]
    pub how: How,
}

#[derive(Debug, clap::Args)]
pub struct How {
    /// Return only when it is done
    #[arg(long)]
    pub wait: bool,
    /// Show what would be done, and do nothing
    #[arg(long, conflicts_with = "wait")]
    pub dry_run: bool,
}

/// `castellan instance update`.
pub async fn update(options: &Update, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    let id = options.on.id(connection).await?;
    let changes = UpdateInstance {
        name: options.name.clone(),
        tags: None,
        plan: options.plan.clone(),
        nodes: options.nodes,
        disk_size: options.disk_size,
        raise_replication: options.keep_replication.then_some(false),
        accept_single_copy: options.accept_single_copy.then_some(true),
    };
    if options.how.dry_run {
        let answer = client.plan_update(id, &changes).await?;
        return planned::print(&answer, &answer.message, answer.planned.as_ref(), connection);
    }
    let before = newest(client, id).await?;
    let answer = client.update_instance(id, &changes).await?;
    if options.how.wait {
        wait_for_newer(client, id, before).await?;
    }
    output::print_sentence(&answer, &answer.message, connection)
}

#[derive(Debug, clap::Args)]
pub struct Disk {
    #[command(flatten)]
    pub on: OnInstance,
    /// Gigabytes a server on top of the plan's
    #[arg(long, value_name = "GB")]
    pub extra: u32,
    /// Return only when every server has it
    #[arg(long)]
    pub wait: bool,
}

/// `castellan instance disk`.
pub async fn disk(options: &Disk, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    let id = options.on.id(connection).await?;
    let before = newest(client, id).await?;
    let asked = ResizeDisk { extra_disk_size: options.extra };
    let answer = client.resize_disk(id, &asked).await?;
    if options.wait {
        wait_for_newer(client, id, before).await?;
    }
    output::print_message(&answer, connection)
}

#[derive(Debug, clap::Args)]
pub struct Rebalance {
    #[command(flatten)]
    pub on: OnInstance,
    #[command(flatten)]
    pub how: How,
}

/// `castellan instance rebalance`.
pub async fn rebalance(options: &Rebalance, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    let id = options.on.id(connection).await?;
    if options.how.dry_run {
        let answer = client.plan_rebalance(id).await?;
        return planned::print(&answer, &answer.message, answer.planned.as_ref(), connection);
    }
    let accepted = client.rebalance(id).await?;
    if options.how.wait {
        follow::wait_for(client, id, &accepted).await?;
    }
    output::print_sentence(&accepted, &accepted.message, connection)
}

/// The last action that was asked for; 0 if there is none.
async fn newest(client: &Client, id: i64) -> anyhow::Result<i64> {
    let actions = client.actions(id).await?;
    Ok(actions.first().map_or(0, |action| action.id))
}

/// The answer to a change names no action, because clients of other programs read it too.
async fn wait_for_newer(client: &Client, id: i64, before: i64) -> anyhow::Result<()> {
    let actions = client.actions(id).await?;
    let newer: Vec<Action> = actions.into_iter().filter(|it| it.id > before).collect();
    for action in newer.iter().rev() {
        let accepted = Accepted { message: String::new(), action: Some(action.id), planned: None };
        follow::wait_for(client, id, &accepted).await?;
    }
    Ok(())
}
