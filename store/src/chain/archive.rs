//! Moving the oldest lines of chains into a file, and reading that file again.
//!
//! An archive is lines of JSON: one that says what it is, and for each account one that
//! says which part of its chain follows, and the lines of that part. The part's beginning and
//! end are sealed with the master key, and every line has its mark and its hash: what was
//! changed, inserted or removed in the file is found as in the store. Lines leave the store
//! only in a transaction that writes, sealed, where the chain starts from then on.

use super::verify::{Broken, Seen};
use super::{Link, PAGE, Point, head, sealed, set_start, start};
use crate::db::{Query, Run};
use crate::{MasterKey, Result, Work};
use model::{AccountId, Month, Secret, Timestamp};
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

/// A part of one account's chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Section {
    pub account_id: AccountId,
    /// The line before its first one.
    pub after: Point,
    pub last: Point,
}

impl Section {
    pub fn lines(&self) -> i64 {
        self.last.place - self.after.place
    }
}

/// One line of an archive.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record {
    Archive { version: u32, before: Month },
    Account { section: Section, sealed: String },
    Line(Link),
}

impl Record {
    fn text(&self) -> String {
        serde_json::to_string(self).expect("plain data serialises")
    }
}

/// The first line of an archive of everything before a month.
pub fn title(before: Month) -> String {
    Record::Archive { version: VERSION, before }.text()
}

/// The first line of a section.
pub fn section_title(key: &MasterKey, section: &Section) -> String {
    let sealed = key.seal(&seal_place(section), &Secret::new(section_text(section)));
    Record::Account { section: section.clone(), sealed }.text()
}

fn section_text(section: &Section) -> String {
    serde_json::to_string(section).expect("plain data serialises")
}

fn seal_place(section: &Section) -> String {
    format!("audit_archives/{}", section.account_id)
}

/// The sealed lines of an account that are all older than a time, from the start of its
/// chain on; none if there are none. A later line that is older stays with its neighbours.
pub async fn section_before(
    run: &mut impl Run,
    account: AccountId,
    before: Timestamp,
) -> Result<Option<Section>> {
    let after = start(run, account).await?;
    let query = Query::new(
        "SELECT MIN(place) AS first FROM audit \
         WHERE account_id = $1 AND at >= $2 AND place IS NOT NULL",
    );
    let row = run.fetch_one(query.bind(account.to_string()).bind(before)).await?;
    let first_kept = row.map(|row| row.int_or_none("first")).transpose()?.flatten();
    let end = head(run, account).await?.unwrap_or_default().length;
    let last = first_kept.map_or(end, |first| first - 1);
    if last <= after.place {
        return Ok(None);
    }
    let last = point(run, account, last).await?;
    Ok(last.map(|last| Section { account_id: account, after, last }))
}

/// The sealed line at a place.
async fn point(run: &mut impl Run, account: AccountId, place: i64) -> Result<Option<Point>> {
    let found = sealed(run, account, place - 1, place).await?.into_iter().next();
    Ok(found.map(|link| Point {
        place,
        hash: link.hash.unwrap_or_default(),
        marked: link.mark.is_some(),
    }))
}

/// The lines of a section behind a place, as the archive has them; none at the end. Lines
/// that are missing are found when the archive is read.
pub async fn page(
    run: &mut impl Run,
    section: &Section,
    after: i64,
) -> Result<Option<(Vec<String>, i64)>> {
    let found = sealed(run, section.account_id, after, section.last.place).await?;
    let last = found.last().and_then(|link| link.place);
    let lines = found.into_iter().map(|link| Record::Line(link).text()).collect();
    Ok(last.map(|last| (lines, last)))
}

/// Why an archive can't be relied on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsound {
    #[error("it is no archive of an audit log")]
    NoArchive,
    #[error("it was written by a newer Castellan; read it with that one")]
    Newer,
    #[error("line {0} can't be read: the file was changed, or it was not written to its end")]
    Unreadable(usize),
    #[error(
        "line {0} was not sealed with this store's master key: the file was changed, or it is an \
         archive of another installation"
    )]
    NotSealed(usize),
    #[error("of account {account}: {broken}")]
    Broken { account: AccountId, broken: Broken },
    #[error("of account {account}: the lines up to place {last} are missing")]
    Short { account: AccountId, last: i64 },
}

/// Reads an archive line by line and checks all of it.
pub struct Reading<'a> {
    key: &'a MasterKey,
    number: usize,
    before: Option<Month>,
    sections: Vec<Section>,
    seen: Seen,
}

/// An archive that is as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Archive {
    pub before: Month,
    pub sections: Vec<Section>,
}

impl<'a> Reading<'a> {
    pub fn new(key: &'a MasterKey) -> Self {
        let seen = Seen(Point::default());
        Self { key, number: 0, before: None, sections: Vec::new(), seen }
    }

    pub fn line(&mut self, text: &str) -> std::result::Result<(), Unsound> {
        self.number += 1;
        let record = serde_json::from_str::<Record>(text);
        match (self.before, record) {
            (None, Ok(Record::Archive { version, .. })) if version > VERSION => Err(Unsound::Newer),
            (None, Ok(Record::Archive { before, .. })) => {
                self.before = Some(before);
                Ok(())
            }
            (None, _) => Err(Unsound::NoArchive),
            (_, Ok(Record::Account { section, sealed })) => self.section(section, &sealed),
            (_, Ok(Record::Line(link))) => self.link(&link),
            (_, Ok(Record::Archive { .. }) | Err(_)) => Err(Unsound::Unreadable(self.number)),
        }
    }

    pub fn finish(self) -> std::result::Result<Archive, Unsound> {
        self.ended()?;
        let before = self.before.ok_or(Unsound::NoArchive)?;
        Ok(Archive { before, sections: self.sections })
    }

    fn section(&mut self, section: Section, sealed: &str) -> std::result::Result<(), Unsound> {
        self.ended()?;
        let opened = self.key.open(&seal_place(&section), sealed);
        if opened.is_ok_and(|said| said.expose() == section_text(&section)) {
            self.seen = Seen(section.after.clone());
            self.sections.push(section);
            return Ok(());
        }
        Err(Unsound::NotSealed(self.number))
    }

    fn link(&mut self, link: &Link) -> std::result::Result<(), Unsound> {
        let Some(section) = self.sections.last() else {
            return Err(Unsound::Unreadable(self.number));
        };
        let account = section.account_id;
        if link.line.account_id != account || self.seen.0.place >= section.last.place {
            return Err(Unsound::Unreadable(self.number));
        }
        let broken = self.seen.check(self.key, link);
        broken.map_or(Ok(()), |broken| Err(Unsound::Broken { account, broken }))
    }

    /// Whether the section so far is whole.
    fn ended(&self) -> std::result::Result<(), Unsound> {
        let Some(section) = self.sections.last() else { return Ok(()) };
        let (account, last) = (section.account_id, &section.last);
        if self.seen.0.place < last.place {
            return Err(Unsound::Short { account, last: last.place });
        }
        // The mark of the last line says whether lines have marks by then.
        if self.seen.0.hash != last.hash {
            return Err(Unsound::Broken { account, broken: Broken::Head });
        }
        Ok(())
    }
}

/// What became of a section's lines in the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pruned {
    /// Some are gone, and some are left.
    Some,
    /// The last of them is gone now.
    All,
    /// They were gone before.
    Before,
    /// They are no lines of this store's chain, or lines before them are in no archive.
    NotOurs,
}

/// Removes lines of a section from the store, the oldest first and at most a page of them.
/// Only for a section whose archive is on disk.
pub async fn prune(work: &mut Work, section: &Section) -> Result<Pruned> {
    let account = section.account_id;
    let begin = start(work, account).await?;
    if begin.place >= section.last.place {
        return Ok(Pruned::Before);
    }
    let is_joined = section.after.place <= begin.place;
    let found = point(work, account, section.last.place).await?;
    if !is_joined || found.is_none_or(|found| found.hash != section.last.hash) {
        return Ok(Pruned::NotOurs);
    }
    let until = section.last.place.min(begin.place + i64::from(PAGE));
    let Some(until) = point(work, account, until).await? else { return Ok(Pruned::NotOurs) };
    let query = Query::new("DELETE FROM audit WHERE account_id = $1 AND place <= $2")
        .bind(account.to_string())
        .bind(until.place);
    work.execute(query).await?;
    let marked = until.marked || begin.marked;
    set_start(work, account, &Point { marked, ..until.clone() }).await?;
    Ok(if until.place == section.last.place { Pruned::All } else { Pruned::Some })
}

/// Why archived sections don't lead to what the store has of an account.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unjoined {
    #[error("the lines at places {first} to {last} are in none of the archives that were named")]
    Missing { first: i64, last: i64 },
    #[error("the archived lines up to place {last} are not those that this store archived")]
    NotOurs { last: i64 },
}

/// Whether an account's sections are all that was archived of it, one after another.
pub async fn check_joined(
    run: &mut impl Run,
    account: AccountId,
    sections: &[Section],
) -> Result<Option<Unjoined>> {
    let begin = start(run, account).await?;
    let mut mine: Vec<&Section> = sections.iter().filter(|it| it.account_id == account).collect();
    mine.sort_by_key(|section| section.after.place);
    let mut last = Point::default();
    for section in mine {
        if section.after.place > last.place {
            let (first, last) = (last.place + 1, section.after.place);
            return Ok(Some(Unjoined::Missing { first, last }));
        }
        if section.after.place == last.place && section.after.hash != last.hash {
            return Ok(Some(Unjoined::NotOurs { last: section.last.place }));
        }
        if section.last.place > last.place {
            last = section.last.clone();
        }
    }
    if last.place < begin.place {
        return Ok(Some(Unjoined::Missing { first: last.place + 1, last: begin.place }));
    }
    // Behind the start there are lines as yet: an archive that was not pruned to its end.
    let there = if last.place == begin.place {
        Some(begin.hash)
    } else {
        point(run, account, last.place).await?.map(|point| point.hash)
    };
    let is_ours = there.is_some_and(|hash| hash == last.hash);
    Ok((!is_ours).then_some(Unjoined::NotOurs { last: last.place }))
}
