//! What people's codes of six digits are made from, sealed, and the codes for those who have
//! lost that, by their hashes.

use crate::db::{Query, Run};
use crate::{Result, Work, hash_key};
use model::{Secret, UserId};

/// A name of the row; it is sealed for that.
fn place(user: UserId) -> String {
    format!("second_factors/{user}")
}

/// Takes the place of the one that the user has, with its recovery codes.
pub async fn set(work: &mut Work, user: UserId, secret: &Secret) -> Result<()> {
    remove(work, user).await?;
    let sealed = work.master_key().seal(&place(user), secret);
    let query = Query::new(
        "INSERT INTO second_factors (user_id, secret_sealed, last_step) VALUES ($1, $2, 0)",
    )
    .bind(user.to_string())
    .bind(sealed);
    work.execute(query).await.map(drop)
}

pub async fn find(run: &mut impl Run, user: UserId) -> Result<Option<Secret>> {
    let query = Query::new("SELECT secret_sealed FROM second_factors WHERE user_id = $1")
        .bind(user.to_string());
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(Some(run.master_key().open(&place(user), &row.text("secret_sealed")?)?))
}

/// Takes the code of a step. False if one of it or of a later one was taken before.
pub async fn take_step(work: &mut Work, user: UserId, step: i64) -> Result<bool> {
    let query = Query::new(
        "UPDATE second_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2",
    );
    Ok(work.execute(query.bind(user.to_string()).bind(step)).await? == 1)
}

/// With its recovery codes.
pub async fn remove(work: &mut Work, user: UserId) -> Result<()> {
    for query in [
        "DELETE FROM recovery_codes WHERE user_id = $1",
        "DELETE FROM second_factors WHERE user_id = $1",
    ] {
        work.execute(Query::new(query).bind(user.to_string())).await?;
    }
    Ok(())
}

/// These and no other ones are good from here on.
pub async fn set_recovery_codes(work: &mut Work, user: UserId, codes: &[Secret]) -> Result<()> {
    let old = Query::new("DELETE FROM recovery_codes WHERE user_id = $1").bind(user.to_string());
    work.execute(old).await?;
    for code in codes {
        let query = Query::new("INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)");
        work.execute(query.bind(user.to_string()).bind(hash_key(code))).await?;
    }
    Ok(())
}

/// Uses a code up. False if it is none of the user's.
pub async fn take_recovery_code(work: &mut Work, user: UserId, code: &Secret) -> Result<bool> {
    let query = Query::new("DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2")
        .bind(user.to_string())
        .bind(hash_key(code));
    Ok(work.execute(query).await? == 1)
}

/// How many are left.
pub async fn count_recovery_codes(run: &mut impl Run, user: UserId) -> Result<i64> {
    let query = Query::new("SELECT COUNT(*) AS left_over FROM recovery_codes WHERE user_id = $1")
        .bind(user.to_string());
    run.fetch_one(query).await?.map_or(Ok(0), |row| row.int("left_over"))
}
