//! What was before a restore, as the present store and this host show it.

use crate::data_dir::DataDir;
use anyhow::Result;
use cloud_local::holdings::holdings;
use model::{Clock, SystemClock};
use std::fs;
use std::path::Path;
use store::backup::{Past, settle};

/// Everything given out so far, where the store is a file of the data directory.
pub async fn of_file(data: &DataDir) -> Result<Past> {
    let store = data.store();
    let had_store = store.exists();
    let mut past = Past::default();
    if had_store {
        match settle(&store).await {
            Ok(found) => past = found,
            // To be without a readable store is why people restore.
            Err(error) => eprintln!("The present store can't be read and is kept: {error}"),
        }
    }
    with_host(data, past, had_store)
}

/// The same where it is a database; none if the one before can't be read.
pub fn of_database(data: &DataDir, before: Option<Past>) -> Result<Past> {
    with_host(data, before.unwrap_or_default(), true)
}

fn with_host(data: &DataDir, mut past: Past, had_store: bool) -> Result<Past> {
    let held = holdings(&data.host())?;
    for server in &held.servers {
        past.note("servers", server.id.0);
        past.note("instances", server.instance_id.map_or(0, |id| id.0));
        past.store_epoch = past.store_epoch.max(obeyed_epoch(&server.path));
        past.incarnations.extend(server.incarnation.map(|incarnation| (server.id, incarnation)));
        // A half of a directory without a process is what a stop has left.
        if server.instance_id.is_some() || server.running.is_some() {
            past.held.push(server.id);
        }
    }
    for disk in &held.disks {
        past.note("servers", disk.server_id.0);
        past.note("instances", disk.instance_id.0);
    }
    for network in &held.networks {
        past.note("vpcs", network.0);
    }
    let holds = !held.servers.is_empty() || !held.disks.is_empty() || !held.networks.is_empty();
    past.is_lost = past.installation.is_none() && (had_store || holds);
    // Seconds since 1970 are beyond any epoch that was counted up by hand, also
    // of a store that is lost.
    past.store_epoch = past.store_epoch.max(SystemClock.now().as_second());
    Ok(past)
}

/// The epoch of the document that a server's agent holds.
fn obeyed_epoch(server: &Path) -> i64 {
    let text = fs::read(server.join("desired.json")).unwrap_or_default();
    let document: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    document["store_epoch"].as_i64().unwrap_or_default()
}
