//! `castellan firewall`.

mod rule;

use crate::{Connection, OnInstance, complete, output};
use anyhow::{Context as _, bail};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use rule::parse;
use std::fs;
use std::io::{self, Read as _};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use wire::firewall::FirewallRule;

/// Rules are in effect within seconds, unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Debug, Subcommand)]
pub enum FirewallCommand {
    /// List who may reach the servers of an instance
    List(OnInstance),
    /// Replace all rules
    Set(Set),
    /// Add rules to those that are there
    Add(Add),
    /// Take all rules of some ranges away
    Remove(Remove),
    /// Go back to the default: SSL and SASL_SSL from anywhere
    Reset(Change),
}

#[derive(Debug, clap::Args)]
pub struct Change {
    #[command(flatten)]
    on: OnInstance,
    /// Return only when the rules are in effect
    #[arg(long)]
    wait: bool,
}

#[derive(Debug, clap::Args)]
pub struct Set {
    #[command(flatten)]
    change: Change,
    /// Such as 203.0.113.0/24=SASL_SSL or 203.0.113.7/32=SSL,9094
    #[arg(value_name = "RANGE=SERVICES", required_unless_present = "file")]
    rules: Vec<String>,
    /// Read the rules from a file, or - for stdin, as `castellan firewall list --json` prints them
    #[arg(long, conflicts_with = "rules")]
    file: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    #[command(flatten)]
    change: Change,
    /// Such as 203.0.113.0/24=SASL_SSL or 203.0.113.7/32=SSL,9094
    #[arg(value_name = "RANGE=SERVICES", required = true)]
    rules: Vec<String>,
    /// What they are for
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,
}

#[derive(Debug, clap::Args)]
pub struct Remove {
    #[command(flatten)]
    change: Change,
    /// Such as 203.0.113.0/24
    #[arg(
        value_name = "RANGE",
        required = true,
        add = ArgValueCompleter::new(complete::firewall_ranges)
    )]
    ranges: Vec<String>,
}

pub async fn run(command: FirewallCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        FirewallCommand::List(on) => {
            print(&connection.client.firewall(on.id(connection).await?).await?, connection)
        }
        FirewallCommand::Set(options) => set(&options, connection).await,
        FirewallCommand::Add(options) => add(&options, connection).await,
        FirewallCommand::Remove(options) => remove(&options, connection).await,
        FirewallCommand::Reset(change) => {
            let id = change.on.id(connection).await?;
            replace(id, &[], &change, connection).await
        }
    }
}

/// `castellan firewall set`.
async fn set(options: &Set, connection: &Connection) -> anyhow::Result<()> {
    let rules = match &options.file {
        Some(file) => read(file)?,
        None => parse(&options.rules, "")?,
    };
    if rules.is_empty() {
        bail!("no rules mean the default; `castellan firewall reset` goes back to that");
    }
    let id = options.change.on.id(connection).await?;
    replace(id, &rules, &options.change, connection).await
}

fn read(file: &str) -> anyhow::Result<Vec<FirewallRule>> {
    let text = if file == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).context("stdin can't be read")?;
        text
    } else {
        fs::read_to_string(file).with_context(|| format!("{file} can't be read"))?
    };
    serde_json::from_str(&text).with_context(|| {
        format!("{file} holds no rules; write them as `castellan firewall list --json` prints them")
    })
}

/// `castellan firewall add`.
async fn add(options: &Add, connection: &Connection) -> anyhow::Result<()> {
    let new = parse(&options.rules, &options.description)?;
    let id = options.change.on.id(connection).await?;
    let mut rules = connection.client.firewall(id).await?;
    rules.extend(new);
    replace(id, &rules, &options.change, connection).await
}

/// `castellan firewall remove`.
async fn remove(options: &Remove, connection: &Connection) -> anyhow::Result<()> {
    let id = options.change.on.id(connection).await?;
    let mut rules = connection.client.firewall(id).await?;
    for range in &options.ranges {
        let before = rules.len();
        rules.retain(|rule| &rule.ip != range);
        if rules.len() == before {
            bail!("no rule is for {range}; `castellan firewall list {id}` shows all of them");
        }
    }
    if rules.is_empty() {
        bail!(
            "no rule would be left, and that is the default: SSL and SASL_SSL from anywhere; add \
             the rules that shall stay first, or go back to the default with \
             `castellan firewall reset {id}`"
        );
    }
    replace(id, &rules, &options.change, connection).await
}

async fn replace(
    id: i64,
    rules: &[FirewallRule],
    change: &Change,
    connection: &Connection,
) -> anyhow::Result<()> {
    let rules = connection.client.set_firewall(id, rules).await?;
    if change.wait {
        until_configured(id, connection).await?;
    }
    print(&rules, connection)
}

async fn until_configured(id: i64, connection: &Connection) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        match connection.client.firewall_configured(id).await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_firewall_not_configured() && began.elapsed() < PATIENCE => {}
            Err(error) => return Err(error.into()),
        }
        sleep(PAUSE).await;
    }
}

fn print(rules: &[FirewallRule], connection: &Connection) -> anyhow::Result<()> {
    let row = |rule: &FirewallRule| {
        let ports = rule.ports.iter().map(ToString::to_string);
        let open: Vec<String> = rule.services.iter().cloned().chain(ports).collect();
        let enforced = if rule.enforced == Some(false) { "no" } else { "yes" };
        [rule.ip.clone(), open.join(","), enforced.into(), rule.description.clone()]
    };
    output::print_list(rules, ["RANGE", "OPEN", "ENFORCED", "DESCRIPTION"], row, connection)
}
