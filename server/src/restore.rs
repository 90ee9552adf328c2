//! `castellan restore`: the store of a backup in the place of the present one.
//!
//! Clusters are not touched. What was made since the backup runs on and is an
//! orphan; what was deleted since is missed and held. The restored store never
//! gives out a number that an orphan has, and agents follow it again, because
//! its epoch is higher than any before.

use crate::at::At;
use crate::backup::{HalfStore, copy, sibling, with_suffix};
use crate::data_dir::DataDir;
use anyhow::{Context, Result, bail};
use app::{Source, SourceKind, audit};
use clap::Args;
use cloud_local::holdings::holdings;
use model::{Clock, SystemClock};
use std::fs;
use std::path::{Path, PathBuf};
use store::backup::{Past, go_beyond, settle};
use store::{Location, MasterKey, Store};

#[derive(Args)]
pub struct RestoreArgs {
    /// A file that `castellan backup` has written
    file: PathBuf,
    /// Replace the store that an earlier restore has kept
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    at: At,
}

pub async fn run(args: RestoreArgs) -> Result<()> {
    if args.at.config()?.database_url.is_some() {
        bail!(
            "this installation keeps everything in PostgreSQL; restore that with pg_restore while \
             no control plane runs, then run there: UPDATE installation SET store_epoch = \
             EXTRACT(EPOCH FROM now()); UPDATE sequences SET value = value + 1000000 WHERE name <> \
             'invoice_numbers'; INSERT INTO slowed_quotas SELECT id, '[]' FROM instances WHERE \
             deleted_at IS NULL ON CONFLICT DO NOTHING; DELETE FROM held_names; and set \
             invoice_numbers to the last number that was sent out"
        );
    }
    let data = args.at.data()?;
    data.create()?;
    let _lock = data.lock_alone().context("a restore needs the control plane stopped")?;
    let _setting_up = data.lock_setup().await?;
    let kept = data.store_before_restore();
    if kept.exists() && !args.force {
        bail!(
            "{} is still there from an earlier restore; move it away, or say --force to replace it",
            kept.display()
        );
    }
    let past = past(&data).await?;
    let key = data.load_master_key(&Location::Sqlite(args.file.clone()), true)?;
    let half = HalfStore(sibling(&data.store(), "restore"));
    let epoch = prepare(&args.file, &half.0, key, &past).await?;
    let had_store = data.store().exists();
    swap(&data, &half.0).context("the store could not be replaced")?;
    eprintln!("Restored from {} as store epoch {epoch}.", args.file.display());
    if had_store {
        eprintln!("The store before is kept as {}.", kept.display());
    }
    eprintln!(
        "Start the control plane, then see with `castellan orphans list` what was made since \
         that backup."
    );
    Ok(())
}

/// Everything given out so far, as the present store and this host show it.
async fn past(data: &DataDir) -> Result<Past> {
    let store = data.store();
    let mut past = Past::default();
    if store.exists() {
        match settle(&store).await {
            Ok(found) => past = found,
            // To be without a readable store is why people restore.
            Err(error) => eprintln!("The present store can't be read and is kept: {error}"),
        }
    }
    let held = holdings(&data.host())?;
    for server in &held.servers {
        past.note("servers", server.id.0);
        past.note("instances", server.instance_id.map_or(0, |id| id.0));
        past.store_epoch = past.store_epoch.max(obeyed_epoch(&server.path));
    }
    for disk in &held.disks {
        past.note("servers", disk.server_id.0);
        past.note("instances", disk.instance_id.0);
    }
    for network in &held.networks {
        past.note("vpcs", network.0);
    }
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

/// Checks a copy of the backup, brings it up to date and lets it go on beyond
/// the past. The backup itself stays as it is.
async fn prepare(file: &Path, half: &Path, key: MasterKey, past: &Past) -> Result<i64> {
    copy(file, half).await?;
    let unusable = || format!("{} can't be restored", file.display());
    let store = Store::open(half, key).await.with_context(unusable)?;
    let epoch = go_on(&store, past).await.with_context(unusable);
    // The last to close brings the log into the file.
    store.close().await;
    let epoch = epoch?;
    if fs::metadata(with_suffix(half, "-wal")).is_ok_and(|log| log.len() > 0) {
        bail!("{} is still in use; try again", half.display());
    }
    fs::File::open(half)?.sync_all()?;
    Ok(epoch)
}

async fn go_on(store: &Store, past: &Past) -> Result<i64> {
    let Some(found) = store::installation::find(&mut store.reader()).await? else {
        bail!("it holds no installation");
    };
    if let Some(present) = &past.installation
        && *present != found.id.to_string()
    {
        bail!(
            "it is of installation {}, and the present store of {present}; if that one is not \
             needed, move castellan.db away from the data directory and restore again",
            found.id
        );
    }
    let mut work = store.begin().await?;
    let epoch = go_beyond(&mut work, past).await?;
    // Everybody's log goes back to the backup, and says so.
    let source = Source { kind: SourceKind::Cli, address: None };
    let extras = [("store_epoch", epoch.to_string())];
    for account in store::accounts::list(&mut work).await? {
        let now = SystemClock.now();
        audit::operator(&mut work, source, account.id, now, "store.restore", &extras).await?;
    }
    work.commit().await?;
    Ok(epoch)
}

/// The present store is linked to its new name, not moved: a data directory
/// without a store would be taken for a new installation after a crash.
fn swap(data: &DataDir, half: &Path) -> Result<()> {
    let (store, kept) = (data.store(), data.store_before_restore());
    for suffix in ["", "-wal"] {
        let (from, to) = (with_suffix(&store, suffix), with_suffix(&kept, suffix));
        remove(&to)?;
        if from.exists() {
            fs::hard_link(&from, &to)
                .with_context(|| format!("{} can't be kept", from.display()))?;
        }
    }
    for suffix in ["-wal", "-shm"] {
        remove(&with_suffix(&store, suffix))?;
    }
    fs::rename(half, &store)?;
    host::sync_dir(data.path())?;
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} can't be removed", path.display()))
        }
        _ => Ok(()),
    }
}
