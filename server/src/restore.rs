//! `castellan restore`: the store of a backup in the place of the present one.
//!
//! Clusters are not touched. What was made since the backup runs on and is an
//! orphan; what was deleted since is missed and held; what was started since runs
//! on. The restored store never gives out a number that an orphan has, and agents
//! follow it again, because its epoch is higher than any before. No key that was
//! revoked since the backup is good again.

mod access;
mod database;
mod past;

use crate::at::At;
use crate::backup::{HalfStore, copy, sibling, with_suffix};
use crate::data_dir::DataDir;
use anyhow::{Context, Result, bail};
use app::{Source, SourceKind, audit};
use clap::Args;
use model::{Clock, InstanceId, KeyId, OsEntropy, Secret, SystemClock};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use store::backup::{Dropped, Past, drop_access, go_beyond, run_on};
use store::{Location, MasterKey, Store};

/// Gaps do no harm anywhere but in the numbers of invoices.
const NUMBERS_ARE_LOST: &str = "No store says which numbers were given out since that backup. \
    Ids go on a million further. Numbers of invoices go on from the backup: if any was sent out \
    since, set the last one in the store before the control plane starts, with INSERT INTO \
    sequences (name, value) VALUES ('invoice_numbers', <number>) ON CONFLICT (name) DO UPDATE \
    SET value = <number>";

/// What is said of integrations where nothing says what became of them since the backup.
fn integrations_of_backup(count: usize) -> String {
    format!(
        "Nothing says which integrations were removed or changed since that backup. {count} send \
         logs and metrics where they did then, with the keys of then: look through them with \
         `castellan integration list`, and delete those that were removed since."
    )
}

#[derive(Args)]
pub struct RestoreArgs {
    /// A file that `castellan backup` has written. With PostgreSQL there is none:
    /// pg_restore restores a dump into a new database, and this has it go on
    file: Option<PathBuf>,
    /// Replace the store that an earlier restore has kept
    #[arg(long)]
    force: bool,
    /// A key of the backup that stays good, though the store before does not have it or
    /// can't be read; by its id, any number of times
    #[arg(long, value_name = "KEY ID")]
    keep_key: Vec<KeyId>,
    /// With PostgreSQL: the database before, which says what was revoked since the backup.
    /// Others on this machine can read arguments: rather set the variable
    #[arg(long, value_name = "URL", env = "CASTELLAN_OLD_DATABASE_URL", hide_env_values = true)]
    #[arg(value_parser = |url: &str| Ok::<_, Infallible>(Secret::new(url)))]
    old_database_url: Option<Secret>,
    /// With PostgreSQL: don't ask before keys are revoked
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    at: At,
}

pub async fn run(args: RestoreArgs) -> Result<()> {
    let keep = args.keep_key.iter().copied().collect();
    match args.at.config()?.database_url {
        Some(url) => database::run(&args, &url, &keep).await,
        None => run_file(&args, &keep).await,
    }
}

async fn run_file(args: &RestoreArgs, keep: &BTreeSet<KeyId>) -> Result<()> {
    if args.old_database_url.is_some() {
        bail!("--old-database-url is for PostgreSQL; name the restored one with --database-url");
    }
    let Some(file) = &args.file else {
        bail!("name the file to restore, which `castellan backup` has written");
    };
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
    let past = past::of_file(&data).await?;
    let key = data.load_master_key(&Location::Sqlite(file.clone()), true)?;
    let half = HalfStore(sibling(&data.store(), "restore"));
    let restored = prepare(file, &half.0, key, &past, keep).await?;
    let had_store = data.store().exists();
    swap(&data, &half.0).context("the store could not be replaced")?;
    eprintln!("Restored from {} as store epoch {}.", file.display(), restored.epoch);
    if had_store {
        eprintln!("The store before is kept as {}.", kept.display());
    }
    restored.print(&past);
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
    dropped: Dropped,
    /// How many there are, if nothing says what became of them since the backup.
    unknown_integrations: usize,
}

impl Restored {
    fn print(&self, past: &Past) {
        for id in &self.run_on {
            eprintln!(
                "Instance {id} was stopped in that backup. Its servers are here, and run on."
            );
        }
        eprint!("{}", access::words(&self.dropped, past.access.is_some()));
        if self.unknown_integrations > 0 {
            eprintln!("{}", integrations_of_backup(self.unknown_integrations));
        }
        if past.is_lost {
            eprintln!("{NUMBERS_ARE_LOST}");
        }
        eprintln!(
            "Start the control plane, then see with `castellan orphans list` what was made since \
             that backup."
        );
    }
}

/// Checks a copy of the backup, brings it up to date and lets it go on beyond
/// the past. The backup itself stays as it is.
async fn prepare(
    file: &Path,
    half: &Path,
    key: MasterKey,
    past: &Past,
    keep: &BTreeSet<KeyId>,
) -> Result<Restored> {
    copy(file, half).await?;
    let unusable = || format!("{} can't be restored", file.display());
    let store = Store::open(half, key).await.with_context(unusable)?;
    let restored = go_on(&store, past, keep).await.with_context(unusable);
    // The last to close brings the log into the file.
    store.close().await;
    let restored = restored?;
    if fs::metadata(with_suffix(half, "-wal")).is_ok_and(|log| log.len() > 0) {
        bail!("{} is still in use; try again", half.display());
    }
    fs::File::open(half)?.sync_all()?;
    Ok(restored)
}

/// All in one transaction: a store with a past that was taken over in part is not used.
async fn go_on(store: &Store, past: &Past, keep: &BTreeSet<KeyId>) -> Result<Restored> {
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
    access::check_kept(&mut work, keep).await?;
    let epoch = go_beyond(&mut work, past).await?;
    let run_on = run_on(&mut work, &past.held, SystemClock.now()).await?;
    let dropped = match &past.access {
        Some(access) => access.take_over(&mut work, keep, &OsEntropy).await?,
        None => drop_access(&mut work, keep, &OsEntropy).await?,
    };
    let unknown_integrations = match &past.integrations {
        Some(_) => 0,
        None => store::integrations::count(&mut work).await?,
    };
    // Everybody's log goes back to the backup, and says so.
    let source = Source { kind: SourceKind::Cli, address: None };
    let mut revoked: BTreeMap<_, usize> = BTreeMap::new();
    for key in &dropped.keys {
        *revoked.entry(key.user.account_id.to_string()).or_default() += 1;
    }
    for account in store::accounts::list(&mut work).await? {
        let now = SystemClock.now();
        let count = revoked.get(&account.id.to_string()).copied().unwrap_or_default();
        let extras = [("store_epoch", epoch.to_string()), ("keys_revoked", count.to_string())];
        audit::operator(&mut work, source, account.id, now, "store.restore", &extras).await?;
    }
    work.commit().await?;
    Ok(Restored { epoch, run_on, dropped, unknown_integrations })
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
