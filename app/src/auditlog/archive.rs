//! Moving old lines into an archive: first written, then read again and pruned from the
//! store. Both can be repeated. The operator's alone, so it takes no caller.

use crate::{App, Error, Result, Source, audit};
use model::{AccountId, Month};
use std::io::Write;
use store::accounts;
use store::chain::archive::{self, Archive, Pruned, Section};

/// What was moved of one account's log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Archived {
    pub account_id: AccountId,
    pub lines: i64,
}

/// Writes the lines of the months before that one, of one account or of all; how many
/// lines it were. Nothing is written if there are none.
pub async fn write_archive(
    app: &App,
    before: Month,
    only: Option<AccountId>,
    to: &mut impl Write,
) -> Result<i64> {
    super::seal_due(app).await?;
    let mut reader = app.store().reader();
    let mut lines = 0;
    for account in accounts::list(&mut reader).await? {
        if only.is_some_and(|only| only != account.id) {
            continue;
        }
        let section = archive::section_before(&mut reader, account.id, before.start()).await?;
        let Some(section) = section else { continue };
        if lines == 0 {
            put(to, &archive::title(before))?;
        }
        lines += section.lines();
        write_section(app, &section, to).await?;
    }
    Ok(lines)
}

async fn write_section(app: &App, section: &Section, to: &mut impl Write) -> Result<()> {
    put(to, &archive::section_title(app.store().master_key(), section))?;
    let mut reader = app.store().reader();
    let mut after = section.after.place;
    while let Some((lines, last)) = archive::page(&mut reader, section, after).await? {
        for line in lines {
            put(to, &line)?;
        }
        after = last;
    }
    Ok(())
}

fn put(to: &mut impl Write, line: &str) -> Result<()> {
    writeln!(to, "{line}")
        .map_err(|error| Error::Refused(format!("The archive can't be written: {error}")))
}

/// Removes from the store what an archive holds that is on disk and was read to its end,
/// and leaves a line in each account's log. `name` says which file it is.
pub async fn prune(
    app: &App,
    source: Source,
    archive: &Archive,
    name: &str,
    sha256: &str,
) -> Result<Vec<Archived>> {
    let mut archived = Vec::new();
    for section in &archive.sections {
        if prune_section(app, source, archive.before, section, name, sha256).await? {
            let (account_id, lines) = (section.account_id, section.lines());
            archived.push(Archived { account_id, lines });
        }
    }
    Ok(archived)
}

/// False if its lines were gone before.
async fn prune_section(
    app: &App,
    source: Source,
    before: Month,
    section: &Section,
    name: &str,
    sha256: &str,
) -> Result<bool> {
    let account = section.account_id;
    loop {
        let mut work = app.store().begin().await?;
        let pruned = archive::prune(&mut work, section).await?;
        match pruned {
            Pruned::Before => return Ok(false),
            Pruned::NotOurs => {
                return Err(Error::Refused(format!(
                    "The archive's lines of account {account} are not where its log in this store \
                     starts, so none of them was removed; castellan audit verify tells what is \
                     there"
                )));
            }
            Pruned::Some | Pruned::All => {}
        }
        if pruned == Pruned::All {
            let extras = [
                ("before", before.to_string()),
                ("lines", section.lines().to_string()),
                ("file", name.to_owned()),
                ("sha256", sha256.to_owned()),
            ];
            audit::operator(&mut work, source, account, app.now(), "audit.archive", &extras)
                .await?;
        }
        work.commit().await?;
        if pruned == Pruned::All {
            return Ok(true);
        }
    }
}
