//! The chain of an account's audit log: a task seals lines one after another,
//! each with a hash of the line and of the hash before.
//!
//! A line is sealed once, at the next free place, in the order of ids among
//! those that are committed. Writers take turns, so ids are in the order of
//! commits and places in that of ids; were a line ever to come late, it would
//! get a later place and no other would move.
//!
//! Hashes alone could be made anew by whoever can write to the database. What
//! can't is the mark of each line and the end of each chain: both are sealed
//! with the master key, which is not there. The end is written down twice, beside
//! the log and in the account's own row, so that an emptied log is missed.
//!
//! A chain starts with its first line, or behind the lines that were archived
//! ([`archive`]); where that is, is sealed with the master key as well.

pub mod archive;
mod verify;

pub use verify::{Broken, Verdict, verify};

use crate::audit::{AuditLine, line};
use crate::db::{Query, Row, Run};
use crate::seal::MasterKey;
use crate::{Error, Result, Work};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use model::{AccountId, Secret};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Lines that are read at once.
const PAGE: u32 = 1000;

/// Where a chain ends.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Head {
    pub length: i64,
    /// Of the last line; empty at the beginning.
    pub hash: String,
}

/// A line's place in a chain, with all that the check of the next line needs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// 0 before the first line.
    pub place: i64,
    pub hash: String,
    /// Whether lines have marks by then: those from before marks were made come first, and
    /// never again.
    pub marked: bool,
}

/// Accounts with lines that are not sealed yet.
pub async fn unsealed_accounts(run: &mut impl Run) -> Result<Vec<AccountId>> {
    let query =
        Query::new("SELECT DISTINCT account_id FROM audit WHERE place IS NULL ORDER BY account_id");
    run.fetch(query).await?.iter().map(|row| row.parse("account_id")).collect()
}

/// Seals the account's next lines, at most `limit` of them; how many it were.
pub async fn seal(work: &mut Work, account: AccountId, limit: u32) -> Result<usize> {
    let mut head = head(work, account).await?.unwrap_or_default();
    let lines = unsealed(work, account, 0, limit).await?;
    for link in &lines {
        head = Head { length: head.length + 1, hash: link.hash_after(&head.hash) };
        let query = Query::new("UPDATE audit SET place = $2, hash = $3 WHERE id = $1")
            .bind(link.id)
            .bind(head.length)
            .bind(head.hash.as_str());
        work.execute(query).await?;
    }
    if !lines.is_empty() {
        set_head(work, account, &head).await?;
    }
    Ok(lines.len())
}

/// Where the account's chain ends; none if nothing was sealed yet.
pub async fn head(run: &mut impl Run, account: AccountId) -> Result<Option<Head>> {
    Ok(heads(run, account).await?.later())
}

/// Where a chain ends, as it was written down in two places by one transaction.
#[derive(Default)]
struct Heads {
    of_log: Option<Head>,
    /// None also if nothing was sealed since Castellan writes it.
    of_account: Option<Head>,
}

impl Heads {
    /// With one of them taken away, the chain still does not begin anew.
    fn later(&self) -> Option<Head> {
        self.of_log.iter().chain(&self.of_account).max_by_key(|head| head.length).cloned()
    }
}

async fn heads(run: &mut impl Run, account: AccountId) -> Result<Heads> {
    let query = Query::new(
        "SELECT audit_chains.head_sealed AS of_log, accounts.audit_head_sealed AS of_account \
         FROM accounts LEFT JOIN audit_chains ON audit_chains.account_id = accounts.id \
         WHERE accounts.id = $1",
    )
    .bind(account.to_string());
    let Some(row) = run.fetch_one(query).await? else { return Ok(Heads::default()) };
    let key = run.master_key();
    let open = |place: String, sealed: Option<String>| -> Result<Option<Head>> {
        let Some(sealed) = sealed else { return Ok(None) };
        let opened = key.open(&place, &sealed)?;
        serde_json::from_str(opened.expose()).map(Some).map_err(|_| Error::Corrupt {
            what: "the end of an audit chain",
            value: account.to_string(),
        })
    };
    Ok(Heads {
        of_log: open(head_place(account), row.text_or_none("of_log")?)?,
        of_account: open(account_place(account), row.text_or_none("of_account")?)?,
    })
}

async fn set_head(work: &mut Work, account: AccountId, head: &Head) -> Result<()> {
    let text = Secret::new(serde_json::to_string(head).expect("plain data serialises"));
    let sealed = work.master_key().seal(&head_place(account), &text);
    let query = Query::new(
        "INSERT INTO audit_chains (account_id, head_sealed) VALUES ($1, $2) \
         ON CONFLICT (account_id) DO UPDATE SET head_sealed = $2",
    )
    .bind(account.to_string())
    .bind(sealed);
    work.execute(query).await?;
    let sealed = work.master_key().seal(&account_place(account), &text);
    let query = Query::new("UPDATE accounts SET audit_head_sealed = $2 WHERE id = $1")
        .bind(account.to_string())
        .bind(sealed);
    work.execute(query).await.map(drop)
}

/// The last line that was archived; the chain that is in the store starts behind it.
pub(crate) async fn start(run: &mut impl Run, account: AccountId) -> Result<Point> {
    let query = Query::new("SELECT audit_start_sealed FROM accounts WHERE id = $1");
    let row = run.fetch_one(query.bind(account.to_string())).await?;
    let sealed = row.map(|row| row.text_or_none("audit_start_sealed")).transpose()?.flatten();
    let Some(sealed) = sealed else { return Ok(Point::default()) };
    let opened = run.master_key().open(&start_place(account), &sealed)?;
    let what = "the start of an audit chain";
    serde_json::from_str(opened.expose())
        .map_err(|_| Error::Corrupt { what, value: account.to_string() })
}

async fn set_start(work: &mut Work, account: AccountId, start: &Point) -> Result<()> {
    let text = Secret::new(serde_json::to_string(start).expect("plain data serialises"));
    let sealed = work.master_key().seal(&start_place(account), &text);
    let query = Query::new("UPDATE accounts SET audit_start_sealed = $2 WHERE id = $1")
        .bind(account.to_string())
        .bind(sealed);
    work.execute(query).await.map(drop)
}

fn start_place(account: AccountId) -> String {
    format!("accounts/{account}/audit_start")
}

fn head_place(account: AccountId) -> String {
    format!("audit_chains/{account}")
}

fn account_place(account: AccountId) -> String {
    format!("accounts/{account}/audit_head")
}

/// What a line says, as its writer knows it.
pub(crate) fn mark(key: &MasterKey, id: i64, line: &AuditLine) -> String {
    key.seal(&mark_place(id), &Secret::new(encode(&digest(id, line))))
}

fn mark_place(id: i64) -> String {
    format!("audit/{id}")
}

/// A line with what holds it in its chain.
#[derive(Serialize, Deserialize)]
struct Link {
    id: i64,
    #[serde(flatten)]
    line: AuditLine,
    mark: Option<String>,
    place: Option<i64>,
    hash: Option<String>,
}

impl Link {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.int("id")?,
            line: line(row)?,
            mark: row.text_or_none("mark_sealed")?,
            place: row.int_or_none("place")?,
            hash: row.text_or_none("hash")?,
        })
    }

    fn hash_after(&self, before: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(before.as_bytes());
        hash.update([0]);
        hash.update(digest(self.id, &self.line));
        encode(&hash.finalize())
    }
}

/// Sealed lines behind a place and up to another one.
async fn sealed(
    run: &mut impl Run,
    account: AccountId,
    after: i64,
    until: i64,
) -> Result<Vec<Link>> {
    let query = Query::new(
        "SELECT * FROM audit WHERE account_id = $1 AND place > $2 AND place <= $3 \
         ORDER BY place LIMIT $4",
    )
    .bind(account.to_string())
    .bind(after)
    .bind(until)
    .bind(PAGE);
    run.fetch(query).await?.iter().map(Link::read).collect()
}

async fn unsealed(
    run: &mut impl Run,
    account: AccountId,
    after: i64,
    limit: u32,
) -> Result<Vec<Link>> {
    let query = Query::new(
        "SELECT * FROM audit WHERE account_id = $1 AND place IS NULL AND id > $2 \
         ORDER BY id LIMIT $3",
    )
    .bind(account.to_string())
    .bind(after)
    .bind(limit);
    run.fetch(query).await?.iter().map(Link::read).collect()
}

/// Of everything a line says. Each text comes with its length, so that no two
/// lines read the same.
fn digest(id: i64, line: &AuditLine) -> [u8; 32] {
    let account = line.account_id.to_string();
    let mut hash = Sha256::new();
    hash.update(id.to_be_bytes());
    hash.update(line.at.as_microsecond().to_be_bytes());
    for text in [&account, &line.event, &line.source, &line.user, &line.extras] {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().0
}

fn encode(hash: &[u8]) -> String {
    STANDARD_NO_PAD.encode(hash)
}
