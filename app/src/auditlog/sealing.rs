//! Sealing new lines into their accounts' chains, and reading chains again.
//! Neither takes a caller: the one is a task, the other the operator's.

use crate::{App, Result};
use model::{Account, AccountId};
use store::accounts;
use store::chain::archive::{Section, Unjoined, check_joined};
use store::chain::{self, Verdict};

/// Lines sealed in one transaction. Other writers wait meanwhile, so they are
/// few.
const BATCH: u32 = 200;

/// Seals every line that was written so far; how many. An account whose chain
/// can't be gone on with does not hold the others up.
pub async fn seal_due(app: &App) -> Result<usize> {
    let mut sealed = 0;
    for account in chain::unsealed_accounts(&mut app.store().reader()).await? {
        match seal_account(app, account).await {
            Ok(count) => sealed += count,
            Err(store::Error::Away(error)) => return Err(store::Error::Away(error).into()),
            Err(error) => tracing::error!(
                %account, %error,
                "audit lines can't be sealed; castellan audit verify says what is wrong"
            ),
        }
    }
    Ok(sealed)
}

async fn seal_account(app: &App, account: AccountId) -> store::Result<usize> {
    let mut sealed = 0;
    loop {
        let mut work = app.store().begin().await?;
        let count = chain::seal(&mut work, account, BATCH).await?;
        work.commit().await?;
        sealed += count;
        if count < BATCH as usize {
            return Ok(sealed);
        }
    }
}

/// One account and what became of its chain.
#[derive(Clone, Debug)]
pub struct Verified {
    pub account: Account,
    pub verdict: Verdict,
    /// Why the archives are not all that was archived, if they were given.
    pub unjoined: Option<Unjoined>,
}

impl Verified {
    pub fn is_whole(&self) -> bool {
        self.verdict.broken.is_none() && self.unjoined.is_none()
    }
}

/// Reads the chain of one account again, or of all. With archives, whose sections were
/// read before, also whether they lead up to it.
pub async fn verify(
    app: &App,
    only: Option<AccountId>,
    archives: Option<&[Section]>,
) -> Result<Vec<Verified>> {
    let mut reader = app.store().reader();
    let mut verified = Vec::new();
    for account in accounts::list(&mut reader).await? {
        if only.is_none_or(|only| only == account.id) {
            let verdict = chain::verify(&mut reader, account.id).await?;
            let unjoined = match archives {
                Some(sections) if verdict.broken.is_none() => {
                    check_joined(&mut reader, account.id, sections).await?
                }
                _ => None,
            };
            verified.push(Verified { account, verdict, unjoined });
        }
    }
    Ok(verified)
}
