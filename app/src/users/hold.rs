//! A name that is being given out is held by the call that does it.
//!
//! Passwords are in Kafka and certificates in the store, and no transaction spans
//! both. So the name is held in the store before Kafka is asked about it, until
//! the next call sees what came of it: of two calls at the same moment one is
//! refused, and no name gets both.

use crate::{App, InstanceAccess, Result};
use model::{SignedDuration, UserName};
use store::ssl_users::{self, Held, Purpose};

/// Kafka is asked twice, each time until patience ends. A call that died, and so
/// never lets go, holds its name no longer.
const LIFE: SignedDuration = SignedDuration::from_secs(60);

/// None if another call has the name.
pub(crate) async fn hold(
    access: &InstanceAccess,
    app: &App,
    name: &UserName,
    purpose: Purpose,
) -> Result<Option<Held>> {
    let mut work = app.store().begin().await?;
    let id = access.still_there(&mut work).await?.id;
    let held = ssl_users::hold(&mut work, id, name, purpose, app.now(), LIFE).await?;
    work.commit().await?;
    Ok(held)
}

/// Never fails: a name that can't be let go is free when its time is over.
pub(crate) async fn let_go(app: &App, held: &Held) {
    if let Err(error) = Box::pin(forget(app, held)).await {
        tracing::warn!(user = %held.name, %error, "a name stays held until its time is over");
    }
}

async fn forget(app: &App, held: &Held) -> store::Result<()> {
    let mut work = app.store().begin().await?;
    ssl_users::let_go(&mut work, held).await?;
    work.commit().await
}

/// Comes before Kafka is asked. From then on the caller may have the user, and
/// whatever becomes of the call, even of its process, no other call gets it.
pub(super) async fn forget_unknown(access: &InstanceAccess, app: &App, held: &Held) -> Result<()> {
    if !held.after_unknown {
        return Ok(());
    }
    let mut work = app.store().begin().await?;
    ssl_users::forget_unknown(&mut work, access.instance.id, &held.name).await?;
    work.commit().await.map_err(Into::into)
}

/// It is unknown whether Kafka made the user: the name stays held for its time, because
/// Kafka may still do what it was asked. The next call for the name after that gets the
/// user.
pub(super) async fn is_unknown(app: &App, held: &Held) {
    let unknown = Box::pin(async {
        let mut work = app.store().begin().await?;
        ssl_users::leave_unknown(&mut work, held).await?;
        work.commit().await
    });
    if let Err(error) = unknown.await {
        tracing::warn!(user = %held.name, %error, "it is not noted that the user may exist");
    }
}
