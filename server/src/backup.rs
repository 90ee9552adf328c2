//! `castellan backup`: everything the store knows, in one file, taken while the
//! control plane runs. The master key is never in it.

use crate::at::At;
use crate::data_dir::DataDir;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct BackupArgs {
    /// Where to write it
    file: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    at: At,
}

pub async fn run(args: BackupArgs) -> Result<()> {
    if args.at.config()?.database_url.is_some() {
        bail!(
            "this installation keeps everything in PostgreSQL; back that up with pg_dump, and \
             the master key apart from it"
        );
    }
    let data = args.at.data()?;
    if !data.store().exists() {
        bail!(
            "there is no store at {}; name the data directory with --data",
            data.path().display()
        );
    }
    let file = std::path::absolute(&args.file)?;
    check_target(&data, &file, args.force)?;
    let half = sibling(&file, "backup");
    let written = write(&data, &half, &file).await;
    if written.is_err() {
        let _ = fs::remove_file(&half);
    }
    written?;
    eprintln!(
        "Backed up to {}. Secrets in it are sealed, and the master key is not in it: keep {} \
         in another safe place, without it nobody can restore.",
        file.display(),
        data.master_key().display()
    );
    Ok(())
}

fn check_target(data: &DataDir, file: &Path, force: bool) -> Result<()> {
    if file.exists() && !force {
        bail!("{} is there already; choose another name, or say --force", file.display());
    }
    let directory = file.parent().unwrap_or(Path::new("/"));
    let directory = fs::canonicalize(directory)
        .with_context(|| format!("the directory {} can't be used", directory.display()))?;
    if fs::canonicalize(data.path()).is_ok_and(|data| directory.starts_with(data)) {
        bail!(
            "a backup inside the data directory is lost together with it; choose another place \
             than {}",
            file.display()
        );
    }
    Ok(())
}

/// Written aside and renamed, so that a backup is whole or absent.
async fn write(data: &DataDir, half: &Path, file: &Path) -> Result<()> {
    copy(&data.store(), half).await?;
    fs::rename(half, file).with_context(|| format!("{} can't be written", file.display()))?;
    host::sync_dir(file.parent().unwrap_or(Path::new("/")))?;
    Ok(())
}

/// Copies a store into a private file that is on disk when this returns.
pub async fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("{} can't be written", to.display());
    // Made here and empty, because SQLite would let others read it.
    host::write_private(to, b"").with_context(failed)?;
    let copied = store::backup::copy(from, to).await;
    copied.with_context(|| format!("{} can't be copied", from.display()))?;
    File::open(to).and_then(|file| file.sync_all()).with_context(failed)
}

/// `.<name>.<word>` beside a file.
pub fn sibling(file: &Path, word: &str) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.{word}"))
}

/// A copy of a store under way to its place, with the files SQLite keeps beside
/// it. Removed when dropped, unless it was moved there.
pub struct HalfStore(pub PathBuf);

impl Drop for HalfStore {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

/// The file that SQLite keeps beside another.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
