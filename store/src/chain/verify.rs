//! Reading a chain again and naming the first line that is not as it was.
//!
//! Goes page by page, beside writers and the task that seals.

use super::{Head, Link, PAGE, Point, digest, encode, head, heads, mark_place};
use super::{sealed, start, unsealed};
use crate::db::Run;
use crate::{Error, MasterKey, Result};
use model::{AccountId, Timestamp};
use std::fmt;

/// What became of one account's chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// How many lines were archived; the chain in the store starts behind them.
    pub archived: i64,
    /// Where the chain ends. Worth keeping elsewhere: whoever can replace the
    /// whole database can't make it end like this.
    pub head: Head,
    pub unsealed: usize,
    /// The first line that is not as it was.
    pub broken: Option<Broken>,
}

/// One line of a log that was tampered with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Broken {
    /// It says something else than what was written, or was never written.
    Changed(Named),
    /// It was not put there by Castellan.
    Inserted(Named),
    /// It was written, but stands where another one did.
    Moved(Named),
    /// Those at these places are gone; the next one that is there, if any is.
    Removed { first: i64, last: i64, next: Option<Named> },
    /// The record of where the chain ends was removed or changed.
    Head,
    /// The same of where it starts.
    Start,
    /// There is no line at all, and there always is one: an account begins with it.
    Empty,
}

/// A line by what people know of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    pub id: i64,
    pub place: Option<i64>,
    pub at: Timestamp,
    pub event: String,
}

/// Lines that are archived meanwhile are no gap: then it begins again.
pub async fn verify(run: &mut impl Run, account: AccountId) -> Result<Verdict> {
    loop {
        let from = match start(run, account).await {
            Err(Error::Seal(_) | Error::Corrupt { .. }) => {
                return Ok(Verdict::broken(Broken::Start));
            }
            from => from?,
        };
        let verdict = verify_from(run, account, &from).await?;
        if !start(run, account).await.is_ok_and(|now| now != from) {
            return Ok(verdict);
        }
    }
}

async fn verify_from(run: &mut impl Run, account: AccountId, from: &Point) -> Result<Verdict> {
    let heads = match heads(run, account).await {
        Ok(heads) => heads,
        Err(Error::Seal(_) | Error::Corrupt { .. }) => return Ok(Verdict::broken(Broken::Head)),
        Err(error) => return Err(error),
    };
    let end = heads.later().unwrap_or_default();
    let mut seen = Seen(from.clone());
    let mut broken = check_archived(run, account, from).await?;
    if broken.is_none() {
        broken = check_sealed(run, account, &end, &mut seen).await?;
    }
    if broken.is_none() && end.length > 0 && heads.of_log.is_none() {
        broken = Some(Broken::Head);
    }
    if broken.is_none() {
        broken = check_beyond(run, account, &end).await?;
    }
    let (unsealed, odd) = check_unsealed(run, account, seen.0.marked).await?;
    broken = broken.or(odd);
    // Looked up last: lines may have been sealed since the first look.
    if broken.is_none() && unsealed == 0 && head(run, account).await?.is_none() {
        broken = Some(Broken::Empty);
    }
    Ok(Verdict { archived: from.place, head: end, unsealed, broken })
}

impl Verdict {
    fn broken(broken: Broken) -> Self {
        Self { archived: 0, head: Head::default(), unsealed: 0, broken: Some(broken) }
    }
}

/// Lines at places whose lines were archived.
async fn check_archived(
    run: &mut impl Run,
    account: AccountId,
    from: &Point,
) -> Result<Option<Broken>> {
    let odd = sealed(run, account, i64::MIN, from.place).await?;
    Ok(odd.first().map(|link| Broken::Inserted(link.named())))
}

/// Everything up to where the chain ended when this began.
async fn check_sealed(
    run: &mut impl Run,
    account: AccountId,
    end: &Head,
    seen: &mut Seen,
) -> Result<Option<Broken>> {
    while seen.0.place < end.length {
        let page = sealed(run, account, seen.0.place, end.length).await?;
        if page.is_empty() {
            let (first, last) = (seen.0.place + 1, end.length);
            return Ok(Some(Broken::Removed { first, last, next: None }));
        }
        for link in &page {
            if let Some(broken) = seen.check(run.master_key(), link) {
                return Ok(Some(broken));
            }
        }
    }
    // Every hash was made anew to fit, but not where they end.
    Ok((seen.0.hash != end.hash).then_some(Broken::Head))
}

/// The last line of a chain that was read so far.
pub(super) struct Seen(pub Point);

impl Seen {
    /// Reads the next line.
    pub fn check(&mut self, key: &MasterKey, link: &Link) -> Option<Broken> {
        let place = self.0.place + 1;
        if link.place != Some(place) {
            let last = link.place.map_or(place, |there| there - 1);
            return Some(Broken::Removed { first: place, last, next: Some(link.named()) });
        }
        if let Some(broken) = link.check_mark(key, self.0.marked) {
            return Some(broken);
        }
        let hash = link.hash_after(&self.0.hash);
        if link.hash.as_deref() != Some(hash.as_str()) {
            let named = link.named();
            let unmarked = link.mark.is_none();
            return Some(if unmarked { Broken::Changed(named) } else { Broken::Moved(named) });
        }
        self.0 = Point { place, hash, marked: self.0.marked || link.mark.is_some() };
        None
    }
}

impl Link {
    fn named(&self) -> Named {
        let Self { id, place, line, .. } = self;
        Named { id: *id, place: *place, at: line.at, event: line.event.clone() }
    }

    fn check_mark(&self, key: &MasterKey, needed: bool) -> Option<Broken> {
        let Some(mark) = &self.mark else {
            return needed.then(|| Broken::Inserted(self.named()));
        };
        match key.open(&mark_place(self.id), mark) {
            Err(_) => Some(Broken::Inserted(self.named())),
            Ok(said) if said.expose() != encode(&digest(self.id, &self.line)) => {
                Some(Broken::Changed(self.named()))
            }
            Ok(_) => None,
        }
    }
}

/// Lines at places that were never given. Sealed ones and the end of the chain
/// are written together, so the end that is read after them is not before them.
async fn check_beyond(
    run: &mut impl Run,
    account: AccountId,
    end: &Head,
) -> Result<Option<Broken>> {
    let beyond = sealed(run, account, end.length, i64::MAX).await?;
    let now = head(run, account).await?.unwrap_or_default();
    let odd = beyond.iter().find(|link| link.place.is_some_and(|place| place > now.length));
    Ok(odd.map(|link| Broken::Inserted(link.named())))
}

async fn check_unsealed(
    run: &mut impl Run,
    account: AccountId,
    mut marked: bool,
) -> Result<(usize, Option<Broken>)> {
    let (mut count, mut after, mut broken) = (0, 0, None);
    loop {
        let page = unsealed(run, account, after, PAGE).await?;
        for link in &page {
            broken = broken.or_else(|| link.check_mark(run.master_key(), marked));
            marked |= link.mark.is_some();
        }
        count += page.len();
        match page.last() {
            Some(last) => after = last.id,
            None => return Ok((count, broken)),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, place, at, event } = self;
        write!(f, "line {id} ({event} at {at}")?;
        place.map_or(Ok(()), |place| write!(f, ", place {place}"))?;
        f.write_str(")")
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(line) => write!(f, "{line} was changed after it was written"),
            Self::Inserted(line) => write!(f, "{line} was inserted by other means than Castellan"),
            Self::Moved(line) => write!(f, "{line} stands where another line was sealed"),
            Self::Removed { first, last, next } => {
                if first == last {
                    write!(f, "the line at place {first} is missing")?;
                } else {
                    write!(f, "the lines at places {first} to {last} are missing")?;
                }
                match next {
                    Some(next) => write!(f, "; the next is {next}"),
                    None => write!(f, " (the log ended with place {last})"),
                }
            }
            Self::Start => {
                f.write_str("the record of where the chain starts was changed or removed")
            }
            Self::Head => f.write_str("the record of where the chain ends was changed or removed"),
            Self::Empty => {
                f.write_str("there is no line, not even the first one, which every account has")
            }
        }
    }
}
