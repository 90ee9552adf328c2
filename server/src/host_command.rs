//! `castellan host`: what this host has, what of it is promised, and the JVMs that wait warmed
//! up.

use crate::at::{At, ListArgs};
use crate::host_facts::HostFacts;
use crate::room::Room;
use agent::pool::{self, Status};
use anyhow::Result;
use serde::Serialize;
use std::fmt::Write as _;
use std::sync::Arc;

#[derive(Serialize)]
struct Host {
    memory_mb: Option<u64>,
    /// Neither promised to servers nor kept for the host.
    spare_memory_mb: Option<u64>,
    disk_free_mb: Option<u64>,
    servers: u32,
    warm: Option<WarmJvms>,
}

#[derive(Serialize)]
struct WarmJvms {
    ready: usize,
    wanted: usize,
    kafka_version: Option<String>,
    memory_mb: u64,
    why: Option<String>,
}

pub async fn run(args: ListArgs) -> Result<()> {
    let host = look(&args.at).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&host)?);
    } else {
        print!("{}", words(&host));
    }
    Ok(())
}

async fn look(at: &At) -> Result<Host> {
    let (data, config) = (at.data()?, at.config()?);
    let opened = at.open().await?;
    let facts = HostFacts::read(&data.host());
    let room = Room::new(&data, &config, Arc::new(config.catalogue()?), &opened);
    let promised = room.promised().await;
    opened.store.close().await;
    let promised = promised?;
    Ok(Host {
        memory_mb: facts.memory_mb,
        spare_memory_mb: room.spare_mb(&promised),
        disk_free_mb: facts.disk_free_mb,
        servers: promised.iter().map(|(_, servers)| servers).sum(),
        warm: pool::status(&data.pool()).map(|status| warm(&status)),
    })
}

fn warm(status: &Status) -> WarmJvms {
    let alive = status.ready.iter().filter(|process| process.is_alive());
    let taken: Vec<u64> =
        alive.map(|jvm| host::usage(jvm.pid).map_or(0, |it| it.resident)).collect();
    WarmJvms {
        ready: taken.len(),
        wanted: status.wanted,
        kafka_version: status.kafka_version.map(|version| version.to_string()),
        memory_mb: taken.iter().sum::<u64>() >> 20,
        why: status.why.clone(),
    }
}

fn words(host: &Host) -> String {
    let mut text = String::new();
    let mut line = |name: &str, what: String| {
        let _ = writeln!(text, "{name:<10} {what}");
    };
    let mb = |number: Option<u64>| number.map_or("unknown".into(), |mb| format!("{mb} MiB"));
    line(
        "memory",
        format!(
            "{}, of which {} are neither promised to servers nor kept for the host",
            mb(host.memory_mb),
            mb(host.spare_memory_mb)
        ),
    );
    line("disk", format!("{} free", mb(host.disk_free_mb)));
    line("servers", host.servers.to_string());
    line("warm JVMs", warm_words(host.warm.as_ref()));
    text
}

fn warm_words(warm: Option<&WarmJvms>) -> String {
    let Some(warm) = warm else {
        return "none: the control plane is not running, or is set to keep none".into();
    };
    let WarmJvms { ready, wanted, kafka_version, memory_mb, why } = warm;
    let of = kafka_version.as_ref().map_or(String::new(), |version| format!(" of Kafka {version}"));
    let why = why.as_ref().map_or(String::new(), |why| format!("; {why}"));
    format!("{ready} of {wanted}{of}, {memory_mb} MiB{why}")
}
