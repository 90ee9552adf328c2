//! `castellan down`: stops the control plane and every cluster of a data
//! directory; with `--purge` removes them.

use crate::at::{self, At};
use crate::data_dir::DataDir;
use crate::stage::Stage;
use crate::{host_audit, installation};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::time::{Duration, Instant};
use store::Store;

const CONTROL_PLANE_STOP: Duration = Duration::from_mins(1);

#[derive(Args)]
pub struct DownArgs {
    #[command(flatten)]
    at: At,
    /// Also remove everything: clusters, their data, accounts, keys
    #[arg(long)]
    purge: bool,
    /// Don't ask
    #[arg(long)]
    yes: bool,
}

pub async fn run(args: DownArgs) -> Result<()> {
    let data = args.at.data()?;
    if !data.path().exists() {
        bail!("there is nothing at {}; name the data directory with --data", data.path().display());
    }
    if !data.is_in_use() {
        bail!("{} is no data directory of Castellan", data.path().display());
    }
    if args.purge && !args.yes {
        at::ask(&question(&data))?;
    }
    stop_control_plane(&data).await?;
    // Held from here on, so that nobody starts a control plane meanwhile.
    let lock = data.lock_alone()?;
    let log_goes = args.purge && data.holds_store();
    if !log_goes && let Err(error) = note(&args.at, &data).await {
        eprintln!("  ! {}", host_audit::missing("down", &error));
    }
    // They ended with the control plane, but for one that hangs.
    agent::pool::end_leftovers(&data.pool());
    if args.purge {
        kill_clusters(&data).await?;
        purge(&data)?;
    } else {
        stop_clusters(&data).await?;
    }
    drop(lock);
    Ok(())
}

/// In the audit log of everybody whose cluster stops. It is said before it is done, and
/// holds nothing up: a store that is away is no reason to let brokers run. Nor is one that
/// an earlier release has written brought up to date for it, which could not open it then.
async fn note(at: &At, data: &DataDir) -> Result<()> {
    let running = host_audit::running(&data.host())?;
    if running.is_empty() {
        return Ok(());
    }
    let url = at.config()?.database_url;
    if !data.holds_store() && url.is_none() {
        bail!("the store is a database elsewhere; name it with --config or --database-url");
    }
    if Store::is_behind(&installation::location(data, url.as_ref())).await? {
        bail!("the store is an earlier Castellan's, which could not open it after this one");
    }
    let store = at.open().await?.store;
    let written = host_audit::write(&store, "down", &running).await;
    store.close().await;
    written
}

async fn stop_control_plane(data: &DataDir) -> Result<()> {
    let Some(process) = host::holder(data.path()) else { return Ok(()) };
    let stage = Stage::begin("control plane");
    stage.say(format!("process {} is stopping", process.pid));
    process.terminate();
    let deadline = Instant::now() + CONTROL_PLANE_STOP;
    if let Some(watch) = process.watch() {
        let ended = tokio::time::timeout_at(deadline.into(), watch.ended()).await;
        ended.with_context(|| format!("process {} does not stop; end it by hand", process.pid))?;
    }
    stage.done("stopped");
    Ok(())
}

async fn stop_clusters(data: &DataDir) -> Result<()> {
    let stage = Stage::begin("clusters");
    let stopped = cloud_local::stop_all(&data.host(), |running| {
        stage.say(format!("{} servers are stopping", running.len()));
    })
    .await?;
    remove_networks(data)?;
    match stopped.agents + stopped.orphaned_brokers {
        0 => stage.done("none was running"),
        count => stage.done(&format!(
            "{count} servers stopped; their data stays, `castellan up` starts them again"
        )),
    }
    Ok(())
}

/// Nothing is saved by an orderly stop of what is removed right after it.
async fn kill_clusters(data: &DataDir) -> Result<()> {
    let stage = Stage::begin("clusters");
    let ended = cloud_local::kill_all(&data.host()).await?;
    remove_networks(data)?;
    match ended {
        0 => stage.done("none was running"),
        count => stage.done(&format!("{count} servers ended")),
    }
    Ok(())
}

/// A network is made again when its servers start. What can't be removed is no reason to
/// stay up: `castellan network clean` does it later.
fn remove_networks(data: &DataDir) -> Result<()> {
    for error in cloud_local::remove_namespaces(&data.host())? {
        eprintln!("  ! a network stays: {error}");
    }
    Ok(())
}

/// The caches of Kafka are the user's, shared by all installations, and stay.
fn purge(data: &DataDir) -> Result<()> {
    let stage = Stage::begin("data");
    let path = data.path().display();
    let host = data.host();
    let (elsewhere, keeps_key) = (host != data.path(), !data.holds_store());
    // What is left of a group is no reason to leave data behind.
    if let Err(error) = cloud_local::remove_groups(&host) {
        eprintln!("  ! a control group stays: {error}");
    }
    data.purge_host()?;
    let is_gone = data.purge()?;
    let mut said = match (is_gone, keeps_key) {
        (true, _) => format!("{path} is gone"),
        (false, true) => format!(
            "{path} keeps the master key alone: the store is a database elsewhere, which stays \
             and can't be read without it; drop the database, then remove the key"
        ),
        (false, false) => format!("{path} is empty of Castellan's, and keeps what is not"),
    };
    if elsewhere {
        said = format!("{said}; the servers and disks in {} are gone", host.display());
    }
    stage.done(&said);
    Ok(())
}

/// Everything that goes, wherever it is, and what stays.
fn question(data: &DataDir) -> String {
    let mut text = format!("Remove {} with all clusters and their data", data.path().display());
    if data.host() != data.path() {
        text = format!("{text}, the servers and disks in {} too", data.host().display());
    }
    if !data.holds_store() {
        text.push_str(" (the database that is its store stays, and so does its master key)");
    }
    text.push('?');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestInstallation, pretend_running};
    use clap::Parser;
    use sqlx::{Connection as _, Executor as _, SqliteConnection};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        down: DownArgs,
    }

    #[tokio::test]
    async fn a_store_of_an_earlier_release_stays_one() {
        let here = TestInstallation::make(None).await;
        let id = here.create("mouse-1").await.unwrap();
        pretend_running(&here.pretend_held(id).await);
        let line = Line::parse_from(["down", "--data", here.data.path().to_str().unwrap()]);
        let at = &line.down.at;
        let lines = async || {
            let mut reader = here.store().reader();
            let all = store::audit::list(&mut reader, here.account_id()).await.unwrap();
            all.iter().filter(|line| line.event == "instance.down").count()
        };
        note(at, &here.data).await.unwrap();
        assert_eq!(lines().await, 1);

        let url = format!("sqlite://{}", here.data.store().display());
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        let forget = "DELETE FROM _sqlx_migrations \
             WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)";
        connection.execute(forget).await.unwrap();
        connection.close().await.unwrap();
        let hindered = note(at, &here.data).await.unwrap_err().to_string();
        assert!(hindered.contains("an earlier Castellan's"), "{hindered}");
        assert_eq!(lines().await, 1);
    }
}
