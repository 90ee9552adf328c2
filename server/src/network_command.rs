//! `castellan network`: what private networks have put into this host's kernel, and clearing
//! what a crash or a directory that was deleted has left there.
//!
//! It works beside a running control plane, whose networks are on record before they are made.

use crate::at::At;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use cloud_local::{NetworkPart, Whose};
use serde_json::{Value, json};

#[derive(Subcommand)]
pub enum NetworkCommand {
    /// List namespaces, links, rules and addresses of ours
    List(ListArgs),
    /// Remove those that no network on record has
    Clean(CleanArgs),
}

#[derive(Args)]
pub struct ListArgs {
    #[command(flatten)]
    at: At,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct CleanArgs {
    #[command(flatten)]
    at: At,
}

pub fn run(command: &NetworkCommand) -> Result<()> {
    match command {
        NetworkCommand::List(args) => list(args),
        NetworkCommand::Clean(args) => clean(args),
    }
}

fn list(args: &ListArgs) -> Result<()> {
    let parts = cloud_local::network_parts(&args.at.data()?.host())?;
    if args.json {
        println!("{}", parts.iter().map(to_json).collect::<Value>());
    } else if parts.is_empty() {
        eprintln!("No network on this host is in a namespace.");
    } else {
        for part in &parts {
            println!("{}", words(part));
        }
    }
    Ok(())
}

fn clean(args: &CleanArgs) -> Result<()> {
    let (done, errors) = cloud_local::clean_networks(&args.at.data()?.host())?;
    for change in &done {
        println!("{change}");
    }
    for error in &errors {
        eprintln!("  ! {error}");
    }
    match errors.len() {
        0 if done.is_empty() => eprintln!("Nothing is left over."),
        0 => {}
        count => bail!("{count} networks could not be removed; try again when nothing runs there"),
    }
    Ok(())
}

fn state(part: &NetworkPart) -> String {
    let is_old = part.found.as_ref().is_some_and(|found| found.is_stale);
    let state = match &part.whose {
        Whose::Network(id) if part.found.is_none() => format!("of network {id}, missing"),
        Whose::Network(id) => format!("of network {id}"),
        Whose::Host => "of all networks here".to_owned(),
        Whose::Nobody => "left over".to_owned(),
        Whose::Other(Some(place)) => format!("of {place}"),
        Whose::Other(None) => "of another installation".to_owned(),
    };
    if is_old { format!("{state}, before a reboot") } else { state }
}

fn kind(part: &NetworkPart) -> String {
    let kind = part.found.as_ref().map(|found| format!("{:?}", found.kind).to_lowercase());
    kind.unwrap_or_else(|| "network".into())
}

fn words(part: &NetworkPart) -> String {
    format!("{:8} {:32} {}", kind(part), part.name, state(part))
}

fn to_json(part: &NetworkPart) -> Value {
    let network = match &part.whose {
        Whose::Network(id) => json!(id),
        _ => Value::Null,
    };
    json!({
        "kind": kind(part), "name": part.name, "network": network,
        "missing": part.found.is_none(), "left_over": part.whose == Whose::Nobody,
        "state": state(part),
    })
}
