//! `castellan restore`: the store of a backup in the place of the present one.
//!
//! Clusters are not touched. What was made since the backup runs on and is an
//! orphan; what was deleted since is missed and held; what was started since runs
//! on. The restored store never gives out a number that an orphan has, and agents
//! follow it again, because its epoch is higher than any before.

mod past;

use crate::at::At;
use crate::backup::{HalfStore, copy, sibling, with_suffix};
use crate::data_dir::DataDir;
use anyhow::{Context, Result, bail};
use app::{Source, SourceKind, audit};
use clap::Args;
use model::{Clock, InstanceId, SystemClock};
use past::past;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use store::backup::{Past, go_beyond, run_on};
use store::{Location, MasterKey, Store};

/// Gaps do no harm anywhere but in the numbers of invoices.
const NUMBERS_ARE_LOST: &str = "No store says which numbers were given out since that backup. \
    Ids go on a million further. Numbers of invoices go on from the backup: if any was sent out \
    since, set the last one in castellan.db before the control plane starts, with INSERT OR \
    REPLACE INTO sequences (name, value) VALUES ('invoice_numbers', <number>)";

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
             deleted_at IS NULL ON CONFLICT DO NOTHING; DELETE FROM held_names; UPDATE instances \
             SET inside_generation = inside_generation + 1 WHERE deleted_at IS NULL; UPDATE servers \
             SET incarnation = incarnation + 1000, enrolled_key = NULL, enrolled_at = NULL, \
             token_hash = '', token_expires_at = 0 WHERE token_hash IS NOT NULL; and set \
             invoice_numbers to the last number that was sent out. Passwords of default users and \
             settings are then those of the backup again. Once a control plane runs, start with \
             actions/cluster-start what was started since the backup, and revoke again what was \
             revoked since"
        );
    }
    let data = args.at.data()?;
    check_owner(data.path(), rustix::process::geteuid().as_raw())?;
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
    let restored = prepare(&args.file, &half.0, key, &past).await?;
    let had_store = data.store().exists();
    swap(&data, &half.0).context("the store could not be replaced")?;
    eprintln!("Restored from {} as store epoch {}.", args.file.display(), restored.epoch);
    if had_store {
        eprintln!("The store before is kept as {}.", kept.display());
    }
    for id in &restored.run_on {
        eprintln!("Instance {id} was stopped in that backup. Its servers are here, and run on.");
    }
    if past.is_lost {
        eprintln!("{NUMBERS_ARE_LOST}");
    }
    eprintln!(
        "Start the control plane, then see with `castellan orphans list` what was made since \
         that backup."
    );
    Ok(())
}

/// Fails if somebody else runs the control plane: it could not open a private file
/// that we leave.
fn check_owner(data: &Path, ours: u32) -> Result<()> {
    let Ok(found) = fs::metadata(data) else { return Ok(()) };
    if found.uid() == ours {
        return Ok(());
    }
    bail!(
        "{} belongs to the user with id {}, and this runs as the one with id {ours}: the control \
         plane could not open the restored store; run it as that user, such as with sudo -u \
         castellan",
        data.display(),
        found.uid()
    )
}

/// What became of a backup.
struct Restored {
    epoch: i64,
    /// Instances that were stopped in the backup, and are no more.
    run_on: BTreeSet<InstanceId>,
}

/// Checks a copy of the backup, brings it up to date and lets it go on beyond
/// the past. The backup itself stays as it is.
async fn prepare(file: &Path, half: &Path, key: MasterKey, past: &Past) -> Result<Restored> {
    copy(file, half).await?;
    let unusable = || format!("{} can't be restored", file.display());
    let store = Store::open(half, key).await.with_context(unusable)?;
    let restored = go_on(&store, past).await.with_context(unusable);
    // The last to close brings the log into the file.
    store.close().await;
    let restored = restored?;
    if fs::metadata(with_suffix(half, "-wal")).is_ok_and(|log| log.len() > 0) {
        bail!("{} is still in use; try again", half.display());
    }
    fs::File::open(half)?.sync_all()?;
    Ok(restored)
}

async fn go_on(store: &Store, past: &Past) -> Result<Restored> {
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
    let run_on = run_on(&mut work, &past.held, SystemClock.now()).await?;
    // Everybody's log goes back to the backup, and says so.
    let source = Source { kind: SourceKind::Cli, address: None };
    let extras = [("store_epoch", epoch.to_string())];
    for account in store::accounts::list(&mut work).await? {
        let now = SystemClock.now();
        audit::operator(&mut work, source, account.id, now, "store.restore", &extras).await?;
    }
    work.commit().await?;
    Ok(Restored { epoch, run_on })
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

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
