//! Sessions: who is signed in, where, and how that ends.

use super::Visit;
use super::second_factor::Factor;
use crate::audit::{self, Actor};
use crate::caller::Credential;
use crate::{App, Caller, Error, Result, Right, Source, SourceKind};
use model::{Secret, Session, SessionId, SignedDuration, Timestamp, User};
use std::net::IpAddr;
use store::{Work, hash_key, login_tokens, sessions, users};

/// A user has no more; the one that was seen longest ago ends for a new one.
const MOST: usize = 20;
/// A session that was written within this time is not written again.
const GRAIN: SignedDuration = SignedDuration::from_mins(1);
const OVER: Error = Error::NotAuthorized("You are not signed in, or your session has ended");

/// A session that was begun; what the browser shows from here on is readable here and never
/// again.
#[derive(Clone, Debug)]
pub struct NewSession {
    pub token: Secret,
    pub session: Session,
}

/// Somebody who is signed in.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub(super) caller: Caller,
    pub(super) session: Session,
    pub(super) user: User,
}

impl SignedIn {
    /// What every other use case takes.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn user(&self) -> &User {
        &self.user
    }
}

/// A session and the user whose it is.
pub(crate) struct SessionHolder {
    session: Session,
    user: User,
}

/// How somebody came in.
pub(super) struct Entry {
    pub by_link: bool,
    pub factor: Option<Factor>,
}

/// Begins a session, with the line that says so.
pub(super) async fn open(
    work: &mut Work,
    app: &App,
    visit: &Visit,
    user: &User,
    entry: &Entry,
) -> Result<NewSession> {
    let new = begin(work, app, visit, user, entry.by_link).await?;
    let by = if entry.by_link { "link" } else { "password" };
    let mut extras = vec![("by", by.to_owned()), ("session", new.session.id.to_string())];
    if let Some(factor) = entry.factor {
        extras.push(("second_factor", factor.as_str().to_owned()));
    }
    extras.push(("browser", visit.browser.clone()));
    let actor =
        Actor { account_id: user.account_id, source: visit.source, user: user.email.as_str() };
    audit::write(work, actor, app.now(), "login.ok", &extras).await?;
    Ok(new)
}

/// The same without one.
pub(super) async fn begin(
    work: &mut Work,
    app: &App,
    visit: &Visit,
    user: &User,
    by_link: bool,
) -> Result<NewSession> {
    for old in sessions::list(work, user.id).await?.iter().skip(MOST - 1) {
        sessions::remove(work, old.id).await?;
    }
    let (now, token) = (app.now(), app.entropy().key());
    let session = Session {
        id: SessionId(app.entropy().uuid()),
        user_id: user.id,
        by_link,
        started_at: now,
        last_seen_at: now,
        address: visit.source.address,
        browser: visit.browser.clone(),
    };
    sessions::insert(work, &session, &token).await?;
    Ok(NewSession { token, session })
}

/// Who is signed in with this token. Looked up on every request, so that a change of role or
/// the end of a session counts at once.
pub async fn authenticate(address: Option<IpAddr>, app: &App, token: &Secret) -> Result<SignedIn> {
    let look_up = async || {
        let mut reader = app.store().reader();
        let session = sessions::find(&mut reader, token).await?.ok_or(OVER)?;
        let user = users::find(&mut reader, session.user_id).await?.ok_or(OVER)?;
        Ok::<_, Error>(SessionHolder { session, user })
    };
    let moment = app.store().moment();
    let key = hash_key(token);
    let holder = app.session_holders.get_or_make(app.store(), moment, key, look_up).await?;
    let SessionHolder { session, user } = &*holder;
    let now = app.now();
    let noted = app.sessions_seen().get(&session.id).copied();
    let session = Session {
        last_seen_at: noted.map_or(session.last_seen_at, |at| at.max(session.last_seen_at)),
        ..session.clone()
    };
    if session.is_over(now) {
        return Err(OVER);
    }
    if now.duration_since(session.last_seen_at) >= GRAIN {
        app.sessions_seen().insert(session.id, now);
    }
    let source = Source { kind: SourceKind::Console, address };
    let caller = Caller { moment, ..Caller::of_session(session.id, user, source) };
    Ok(SignedIn { caller, session, user: user.clone() })
}

/// Writes when people were last seen since the last flush, in one transaction. What can't be
/// written is kept for the next time.
pub async fn flush_last_seen(app: &App) -> Result<()> {
    let batch = std::mem::take(&mut *app.sessions_seen());
    if batch.is_empty() {
        return Ok(());
    }
    let seen: Vec<(SessionId, Timestamp)> = batch.iter().map(|(id, at)| (*id, *at)).collect();
    let written = async {
        let mut work = app.store().begin().await?;
        sessions::set_last_seen(&mut work, &seen).await?;
        work.commit().await
    };
    if let Err(error) = written.await {
        let mut waiting = app.sessions_seen();
        for (id, at) in batch {
            waiting.entry(id).or_insert(at);
        }
        return Err(error.into());
    }
    Ok(())
}

/// One of somebody's own sessions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionView {
    pub session: Session,
    /// Whether the caller came with it.
    pub is_current: bool,
}

/// The caller's own, the one that was seen last first.
pub async fn list(caller: &Caller, app: &App) -> Result<Vec<SessionView>> {
    caller.may(Right::UseOwnAccess)?;
    let now = app.now();
    let found = sessions::list(&mut app.store().reader(), caller.user_id).await?;
    let view = |session: Session| SessionView {
        is_current: caller.credential == Credential::Session(session.id),
        session,
    };
    Ok(found.into_iter().filter(|session| !session.is_over(now)).map(view).collect())
}

/// Ends one of the caller's own. `None` stands for a path segment that is no id.
pub async fn end(caller: &Caller, app: &App, id: Option<SessionId>) -> Result<()> {
    caller.may(Right::UseOwnAccess)?;
    let id = id.ok_or(Error::NotFound)?;
    let mut work = app.store().begin().await?;
    let found = sessions::find_by_id(&mut work, id).await?;
    let session = found.filter(|it| it.user_id == caller.user_id).ok_or(Error::NotFound)?;
    sessions::remove(&mut work, session.id).await?;
    let is_current = caller.credential == Credential::Session(id);
    let why = if is_current { "signed out" } else { "ended by its user" };
    let extras = [("session", id.to_string()), ("why", why.into())];
    audit::write(&mut work, caller, app.now(), "session.end", &extras).await?;
    Ok(work.commit().await?)
}

/// Ends all of the caller's own but the one that they came with. How many those were.
pub async fn end_all(caller: &Caller, app: &App) -> Result<u64> {
    caller.may(Right::UseOwnAccess)?;
    let but = match caller.credential {
        Credential::Session(id) => Some(id),
        Credential::Key(_) => None,
    };
    let mut work = app.store().begin().await?;
    let ended = sessions::remove_all(&mut work, caller.user_id, but).await?;
    note_end(&mut work, app, caller, ended, "ended by its user").await?;
    work.commit().await?;
    Ok(ended)
}

/// Ends the session that somebody came with.
pub async fn sign_out(signed_in: &SignedIn, app: &App) -> Result<()> {
    match end(&signed_in.caller, app, Some(signed_in.session.id)).await {
        // It has ended meanwhile.
        Err(Error::NotFound) => Ok(()),
        other => other,
    }
}

/// Ends every session of a user, and what could become one.
pub(crate) async fn end_all_of<'a>(
    work: &mut Work,
    app: &App,
    user: &User,
    by: impl Into<Actor<'a>>,
    why: &str,
) -> Result<u64> {
    let ended = sessions::remove_all(work, user.id, None).await?;
    login_tokens::remove_all(work, user.id).await?;
    note_end(work, app, by, ended, why).await?;
    Ok(ended)
}

async fn note_end<'a>(
    work: &mut Work,
    app: &App,
    by: impl Into<Actor<'a>>,
    ended: u64,
    why: &str,
) -> Result<()> {
    if ended == 0 {
        return Ok(());
    }
    let extras = [("sessions", ended.to_string()), ("why", why.to_owned())];
    audit::write(work, by, app.now(), "session.end", &extras).await
}

/// Removes sessions that have ended by themselves. A task, which may run at any time.
pub async fn sweep(app: &App) -> Result<()> {
    if sessions::list_over(&mut app.store().reader(), app.now()).await?.is_empty() {
        return Ok(());
    }
    // Somebody may have been seen a moment ago.
    flush_last_seen(app).await?;
    let now = app.now();
    let mut work = app.store().begin().await?;
    for session in sessions::list_over(&mut work, now).await? {
        sessions::remove(&mut work, session.id).await?;
        let Some(user) = users::find(&mut work, session.user_id).await? else { continue };
        let extras = [
            ("email", user.email),
            ("session", session.id.to_string()),
            ("why", "it was too old".to_owned()),
        ];
        let account = user.account_id;
        store::audit::insert_system(&mut work, account, now, "session.end", &extras).await?;
    }
    Ok(work.commit().await?)
}
