//! What people do with their own keys, and admins with those of their team.

use super::grant::Bounds;
use super::operate::KeyOf;
use super::{Grounds, insert_key};
use crate::{App, Asked, Caller, Error, Grant, Problems, Result, Right, audit, limits};
use model::{ApiKey, KeyComment, KeyId, Role, Secret, Tags, Timestamp};
use store::{apikeys, users};

/// What a key shall be, as sent; all of it optional.
#[derive(Clone, Debug, Default)]
pub struct NewOwnKey {
    pub comment: Option<String>,
    /// As much as the caller has if absent; never more than that.
    pub role: Option<String>,
    /// The caller's own if absent; never others.
    pub tags: Option<Vec<String>>,
    /// As RFC 3339. When the caller's own key expires if absent, and never later.
    pub expires_at: Option<String>,
}

/// The caller's own keys, oldest first; for admins those of the whole account.
pub async fn list_visible(caller: &Caller, app: &App) -> Result<Vec<KeyOf>> {
    caller.may(Right::UseOwnAccess)?;
    let mut reader = app.store().reader();
    if caller.may(Right::ManageTeam).is_err() {
        let keys = apikeys::list(&mut reader, caller.user_id).await?;
        return Ok(keys
            .into_iter()
            .map(|key| KeyOf { key, email: caller.email.clone() })
            .collect());
    }
    super::operate::list_account(&mut reader, caller.account_id).await
}

/// Makes a key for the caller. The key itself is readable here and never again.
pub async fn create_own(
    caller: &Caller,
    app: &App,
    asked: Asked<NewOwnKey>,
) -> Result<(ApiKey, Secret)> {
    caller.may(Right::UseOwnAccess)?;
    let (new, problems) = asked.open()?;
    let secret = app.entropy().key();
    let mut work = app.store().begin().await?;
    let maker = caller.confirm(&mut work, Right::UseOwnAccess).await?;
    let checked = check(&maker, new, problems, app.now())?;
    let user = users::find(&mut work, maker.user_id).await?.ok_or(Error::NOT_AUTHORIZED)?;
    limits::check_key(&mut work, app, &user).await?;
    let grounds = Grounds {
        user_id: user.id,
        grant: checked.grant,
        comment: checked.comment.as_str(),
        expires_at: checked.expires_at,
        event: "apikey.create",
        by: (&maker).into(),
    };
    let key = insert_key(&mut work, app, grounds, &secret).await?;
    work.commit().await?;
    Ok((key, secret))
}

/// Stops a key at that moment: one of the caller's own, or for admins any of the account's.
/// `None` stands for a path segment that is no id.
pub async fn delete(caller: &Caller, app: &App, id: Option<KeyId>) -> Result<()> {
    caller.may(Right::UseOwnAccess)?;
    let id = id.ok_or(Error::NotFound)?;
    let mut work = app.store().begin().await?;
    let caller = caller.confirm(&mut work, Right::UseOwnAccess).await?;
    let key = apikeys::find_by_id(&mut work, id).await?.ok_or(Error::NotFound)?;
    let owner = users::find(&mut work, key.user_id).await?.ok_or(Error::NotFound)?;
    let is_in_charge =
        owner.account_id == caller.account_id && caller.may(Right::ManageTeam).is_ok();
    if owner.id != caller.user_id && !is_in_charge {
        return Err(Error::NotFound);
    }
    apikeys::remove(&mut work, id).await?;
    let extras = [("email", owner.email), ("comment", key.comment)];
    audit::write(&mut work, &caller, app.now(), "apikey.revoke", &extras).await?;
    Ok(work.commit().await?)
}

struct Checked {
    grant: Grant,
    comment: KeyComment,
    expires_at: Option<Timestamp>,
}

fn check(
    caller: &Caller,
    new: NewOwnKey,
    mut problems: Problems,
    now: Timestamp,
) -> Result<Checked> {
    let comment = new.comment.and_then(|it| problems.take("comment", KeyComment::parse(it)));
    let role = new.role.and_then(|text| problems.take("role", text.parse::<Role>()));
    let tags = new.tags.and_then(|tags| problems.take("tags", Tags::parse(tags)));
    let bounds = Bounds { key: Some(&caller.key), user: &caller.user, whose: "your own" };
    let grant = if problems.has("role") {
        caller.key.clone()
    } else {
        bounds.grant(&mut problems, role, tags.unwrap_or_default())
    };
    let expires_at = new
        .expires_at
        .and_then(|text| problems.take("expires_at", expiry(&text, now, caller.until)));
    problems.finish()?;
    let expires_at = expires_at.or(caller.until);
    Ok(Checked { grant, comment: comment.unwrap_or_default(), expires_at })
}

fn expiry(
    text: &str,
    now: Timestamp,
    latest: Option<Timestamp>,
) -> std::result::Result<Timestamp, String> {
    let Ok(at) = text.parse::<Timestamp>() else {
        return Err("must be a time with an offset, such as 2030-01-01T00:00:00Z".into());
    };
    // As exact as the store keeps it.
    let at = Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at);
    if at <= now {
        return Err("must be in the future".into());
    }
    match latest.filter(|latest| at > *latest) {
        Some(latest) => Err(format!("must not be after {latest}, when your own key expires")),
        None => Ok(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_expires_in_the_future_and_not_after_its_maker() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let check = |text: &str, latest: Option<&str>, expected: &str| {
            let said = expiry(text, time("2026-11-15T12:00:00Z"), latest.map(time));
            let said = said.err().unwrap_or_default();
            assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{said}");
        };
        check("2026-11-15T12:00:01Z", None, "");
        check("2026-11-15T13:00:01+01:00", None, "");
        check("2026-11-15T12:00:00Z", None, "in the future");
        check("2020-01-01T00:00:00Z", None, "in the future");
        check("2026-11-16", None, "with an offset");
        check("tomorrow", None, "with an offset");
        check("2027-01-01T00:00:00Z", Some("2027-01-01T00:00:00Z"), "");
        check("2027-01-01T00:00:01Z", Some("2027-01-01T00:00:00Z"), "when your own key expires");
    }
}
