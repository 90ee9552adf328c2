//! `castellan audit archive`: the lines of past months, from the store to a file.
//!
//! The file gets its name once it is written to its end. Then it is read again and synced to
//! the disk, and exactly what was read leaves the store. If this ends anywhere in between, nothing is lost:
//! the same command goes on with the file that is there.

use crate::operator::StoreArgs;
use anyhow::{Context, Result, bail};
use app::auditlog::{self, Archive, Archived, Reading};
use app::{App, Source, SourceKind};
use clap::Args;
use model::{AccountId, Month};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const CLI: Source = Source { kind: SourceKind::Cli, address: None };

#[derive(Args)]
pub struct ArchiveArgs {
    /// Archive the lines of the months before this one, as YYYY-MM
    #[arg(long, value_name = "MONTH")]
    before: Month,
    /// Where to write them; by default audit-before-<MONTH>.jsonl in this directory
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only the log of this account
    #[arg(long, value_name = "ID")]
    account: Option<AccountId>,
}

/// What became of the lines.
pub struct Moved {
    file: PathBuf,
    accounts: Vec<Archived>,
}

/// An archive that is whole.
pub struct Read {
    pub archive: Archive,
    sha256: String,
}

pub async fn archive(app: &App, args: &ArchiveArgs) -> Result<Moved> {
    let now = Month::containing(app.now());
    if args.before > now {
        bail!("the month {} has not begun yet; archive before {now} at most", args.before);
    }
    let file = args.out.clone();
    let file = file.unwrap_or_else(|| format!("audit-before-{}.jsonl", args.before).into());
    let file = std::path::absolute(file)?;
    if !file.exists() && !write(app, args, &file).await? {
        return Ok(Moved { file, accounts: Vec::new() });
    }
    let read = read(app, &file)?;
    if read.archive.before != args.before {
        let before = read.archive.before;
        bail!("{} is an archive of the lines before {before}; name another file", file.display());
    }
    let _ = fs::remove_file(half_of(&file));
    sync(&file).with_context(|| format!("{} can't be synced to the disk", file.display()))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let accounts = auditlog::prune(app, CLI, &read.archive, &name, &read.sha256).await?;
    Ok(Moved { file, accounts })
}

/// False, and no file, if there are no such lines.
async fn write(app: &App, args: &ArchiveArgs, file: &Path) -> Result<bool> {
    let half = half_of(file);
    let written = write_half(app, args, &half).await;
    if !matches!(written, Ok(true)) {
        let _ = fs::remove_file(&half);
        return written;
    }
    // Unlike a rename, this replaces no file that has come to be there meanwhile.
    fs::hard_link(&half, file).with_context(|| format!("{} can't be written", file.display()))?;
    Ok(true)
}

fn half_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.half"))
}

/// Once this returns, the file and its name survive a power cut.
fn sync(file: &Path) -> io::Result<()> {
    File::open(file)?.sync_all()?;
    host::sync_dir(file.parent().unwrap_or(Path::new("/")))
}

async fn write_half(app: &App, args: &ArchiveArgs, half: &Path) -> Result<bool> {
    let failed = || format!("{} can't be written", half.display());
    let mut open = OpenOptions::new();
    let open = open.write(true).create(true).truncate(true).mode(0o600).open(half);
    let mut to = BufWriter::new(open.with_context(failed)?);
    let lines = auditlog::write_archive(app, args.before, args.account, &mut to).await?;
    to.flush().with_context(failed)?;
    Ok(lines > 0)
}

/// Reads an archive to its end; fails if it is not as it was written.
pub fn read(app: &App, file: &Path) -> Result<Read> {
    let failed = || format!("{} can't be read", file.display());
    let mut from = BufReader::new(File::open(file).with_context(failed)?);
    let mut reading = Reading::new(app.store().master_key());
    let (mut hash, mut line) = (Sha256::new(), String::new());
    let unsound = || format!("{} is not as it was written", file.display());
    loop {
        line.clear();
        match from.read_line(&mut line) {
            Ok(0) => break,
            Err(error) if error.kind() != ErrorKind::InvalidData => {
                return Err(error).with_context(failed);
            }
            // What is no text is no line of ours.
            _ => {}
        }
        hash.update(line.as_bytes());
        reading.line(line.trim_end_matches('\n')).with_context(unsound)?;
    }
    let archive = reading.finish().with_context(unsound)?;
    let sha256 = hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    Ok(Read { archive, sha256 })
}

pub fn show(at: &StoreArgs, moved: &Moved) {
    let Moved { file, accounts } = moved;
    if at.json {
        let each = accounts
            .iter()
            .map(|it| serde_json::json!({"account_id": it.account_id, "lines": it.lines}));
        let accounts: serde_json::Value = each.collect();
        println!("{:#}", serde_json::json!({"file": file, "accounts": accounts}));
    } else if accounts.is_empty() {
        println!("No lines to archive: nothing was changed.");
    } else {
        for it in accounts {
            println!("{}  {} lines moved", it.account_id, it.lines);
        }
        println!(
            "They are in {}. Keep it: castellan audit verify --archive FILE checks it.",
            file.display()
        );
    }
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
