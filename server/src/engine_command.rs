//! `castellan engine`: holding the engine, for one instance or for all. Works on
//! the store, beside a running control plane or without one.

use crate::at::At;
use anyhow::{Result, bail};
use app::{Source, SourceKind, audit};
use clap::{Args, Subcommand};
use model::{Clock, InstanceId, SystemClock};
use store::pauses::{self, Watched};
use store::{Store, instances};

#[derive(Subcommand)]
pub enum EngineCommand {
    /// Execute no step, of one instance or of any; clusters run on as they are
    Pause(HoldArgs),
    /// Go on
    Resume(HoldArgs),
    /// What is paused, and what each instance does
    Status(StatusArgs),
}

#[derive(Args)]
pub struct HoldArgs {
    /// Only this instance
    instance: Option<InstanceId>,
    #[command(flatten)]
    at: At,
}

#[derive(Args)]
pub struct StatusArgs {
    #[command(flatten)]
    at: At,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(command: EngineCommand) -> Result<()> {
    match command {
        EngineCommand::Pause(args) => hold(&args, true).await,
        EngineCommand::Resume(args) => hold(&args, false).await,
        EngineCommand::Status(args) => status(&args).await,
    }
}

async fn hold(args: &HoldArgs, paused: bool) -> Result<()> {
    let store = args.at.open().await?.store;
    let held = set(&store, args.instance, paused).await;
    store.close().await;
    held?;
    let what = args.instance.map_or("every instance".to_owned(), |id| format!("instance {id}"));
    if paused {
        eprintln!(
            "The engine is paused for {what}; a step that is under way ends first. Brokers and \
             their agents go on alone."
        );
    } else {
        eprintln!("The engine goes on with {what}.");
    }
    Ok(())
}

async fn set(store: &Store, instance: Option<InstanceId>, paused: bool) -> Result<()> {
    let now = SystemClock.now();
    let verb = if paused { "pause" } else { "resume" };
    let source = Source { kind: SourceKind::Cli, address: None };
    let mut work = store.begin().await?;
    let Some(id) = instance else {
        pauses::set_all(&mut work, paused, now).await?;
        // It concerns every account with an instance, and each gets an audit line.
        for account in pauses::accounts(&mut work).await? {
            let extras = [("instances", "all".to_owned())];
            let event = format!("engine.{verb}");
            audit::operator(&mut work, source, account, now, &event, &extras).await?;
        }
        return Ok(work.commit().await?);
    };
    let Some(found) = instances::find(&mut work, id).await? else {
        bail!("there is no instance {id}; `castellan engine status` lists them");
    };
    pauses::set(&mut work, id, paused, now).await?;
    let extras = [("id", id.to_string()), ("name", found.name.to_string())];
    let event = format!("instance.{verb}");
    audit::operator(&mut work, source, found.account_id, now, &event, &extras).await?;
    if !paused && pauses::is_all_paused(&mut work).await? {
        eprintln!("Every instance is paused beside that; `castellan engine resume` ends it.");
    }
    Ok(work.commit().await?)
}

async fn status(args: &StatusArgs) -> Result<()> {
    let store = args.at.open().await?.store;
    let mut reader = store.reader();
    let all = pauses::is_all_paused(&mut reader).await?;
    let watched = pauses::list(&mut reader).await?;
    store.close().await;
    if args.json {
        println!("{}", json(all, &watched));
    } else {
        println!("{}", text(all, &watched));
    }
    Ok(())
}

fn json(all: bool, watched: &[Watched]) -> serde_json::Value {
    let instance = |it: &Watched| {
        serde_json::json!({
            "id": it.id, "name": it.name, "paused": all || it.paused, "status": it.status,
        })
    };
    let instances: Vec<_> = watched.iter().map(instance).collect();
    serde_json::json!({ "paused": all, "instances": instances })
}

fn text(all: bool, watched: &[Watched]) -> String {
    let engine = if all { "paused for every instance" } else { "running" };
    let mut lines = vec![format!("engine  {engine}")];
    for Watched { id, name, paused, status } in watched {
        let paused = if *paused { "paused" } else { "" };
        lines.push(format!("{id:<7} {name:<24} {paused:<7} {status}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(paused: bool) -> Watched {
        Watched { id: InstanceId(7), name: "orders".into(), paused, status: "running".into() }
    }

    #[test]
    fn the_status_tells_a_pause_of_all_from_a_pause_of_one() {
        let check = |all: bool, one: bool, engine: &str, instance: &str| {
            let text = text(all, &[watched(one)]);
            let lines: Vec<String> = text
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect();
            assert_eq!(lines, [engine, instance]);
            assert_eq!(json(all, &[watched(one)])["instances"][0]["paused"], all || one);
        };
        check(false, false, "engine running", "7 orders running");
        check(false, true, "engine running", "7 orders paused running");
        check(true, false, "engine paused for every instance", "7 orders running");
    }
}
