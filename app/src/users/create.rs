//! A new user.

use super::hold::{forget_unknown, is_unknown};
use super::{User, UserType, chosen_name, has_password, hold, let_go};
use crate::resources::{Cluster, change};
use crate::{App, Asked, Error, InstanceAccess, Problems, Result};
use model::{Secret, UserName};
use store::certificates;
use store::ssl_users::{self, Held, Purpose};

/// How many users an instance may have that come by certificate.
const MOST: i64 = 10_000;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewUserAsked {
    pub name: Option<String>,
    /// `sasl` unless it says `ssl`.
    pub kind: Option<String>,
}

/// With the password that is told this once; none for who comes by certificate.
#[derive(Clone, Debug)]
pub struct NewUser {
    pub user: User,
    pub password: Option<Secret>,
}

pub async fn create(
    access: &InstanceAccess,
    app: &App,
    asked: Asked<NewUserAsked>,
) -> Result<NewUser> {
    access.may_change()?;
    let (asked, problems) = asked.open()?;
    let (name, kind) = validate(asked, problems)?;
    let cluster = Cluster::of_its_own(access, app).await?;
    let held = Box::pin(hold(access, app, &name, Purpose::User)).await?;
    let held = held.ok_or_else(|| is_being_given(&name))?;
    let free = Box::pin(async {
        is_free(&cluster, access, app, &held, kind).await?;
        forget_unknown(access, app, &held).await
    });
    if let Err(error) = free.await {
        let_go(app, &held).await;
        return Err(error);
    }
    let about = [("user", name.to_string()), ("type", kind.as_str().to_owned())];
    let user = User { name: name.to_string(), kind };
    let effect = Box::pin(async {
        match kind {
            UserType::Sasl => with_password(&cluster, app, &held).await.map(Some),
            UserType::Ssl => written_down(access, app, &name).await.map(|()| None),
        }
    });
    let made = change(access, app, "user.create", &about, effect).await;
    match &made {
        Err(Error::Unknown(_)) => is_unknown(app, &held).await,
        // It stays held for its time.
        Err(Error::Internal(_) | Error::Away(_)) => {}
        _ => let_go(app, &held).await,
    }
    Ok(NewUser { user, password: made? })
}

fn validate(asked: NewUserAsked, mut problems: Problems) -> Result<(UserName, UserType)> {
    let name = chosen_name(&mut problems, "name", asked.name);
    let kind = match asked.kind.as_deref() {
        None | Some("sasl") => UserType::Sasl,
        Some("ssl") => UserType::Ssl,
        Some(_) => {
            problems.add("type", "must be sasl or ssl");
            UserType::Sasl
        }
    };
    problems.finish()?;
    let name = name.ok_or_else(|| Error::field("name", "Field is required"))?;
    Ok((name, kind))
}

/// While the name is held, no other call gives it out. A user that was made by a call
/// whose outcome stayed unknown is as good as none: no customer has its password.
async fn is_free(
    cluster: &Cluster<'_>,
    access: &InstanceAccess,
    app: &App,
    held: &Held,
    kind: UserType,
) -> Result<()> {
    let name = &held.name;
    let lost = held.after_unknown && name.as_str() != access.instance.username;
    let is_lost = lost && kind == UserType::Sasl;
    if has_password(cluster, name).await? && !is_lost {
        return Err(exists(name));
    }
    let by_certificate = ssl_users::list(&mut app.store().reader(), access.instance.id).await?;
    if by_certificate.iter().any(|user| user == name.as_str()) {
        return Err(exists(name));
    }
    match kind {
        UserType::Sasl => has_no_certificate(access, app, name).await,
        UserType::Ssl => Ok(()),
    }
}

/// The holder of such a certificate would be the same user, with all of its rights.
async fn has_no_certificate(access: &InstanceAccess, app: &App, name: &UserName) -> Result<()> {
    let mut reader = app.store().reader();
    let id = access.instance.id;
    if !certificates::is_issued(&mut reader, id, name.as_str(), app.now()).await? {
        return Ok(());
    }
    let what = format!("somebody has a certificate of the name {name}; revoke it first");
    Err(Error::field("name", what))
}

/// Written again after a lost answer, it is the same password.
async fn with_password(cluster: &Cluster<'_>, app: &App, held: &Held) -> Result<Secret> {
    let password = app.entropy().password();
    let (name, word) = (held.name.as_str(), &password);
    // One that may have been there before does not tell which password it has.
    let tells = !held.after_unknown;
    let see = format!(
        "GET users tells whether {name} is there. Its password can't be told any more: make the \
         same user again after a minute, and it has a new one"
    );
    let set =
        cluster.alter(
            &see,
            |admin, at| admin.set_scram_user(at, name, word),
            |admin, at| async move {
                Ok(tells && !admin.describe_scram_user(at, name).await?.is_empty())
            },
        );
    set.await?;
    cluster
        .until_all_show(|admin, alone| async move {
            Ok(!admin.describe_scram_user(&alone, name).await?.is_empty())
        })
        .await;
    Ok(password)
}

async fn written_down(access: &InstanceAccess, app: &App, name: &UserName) -> Result<()> {
    let mut work = app.store().begin().await?;
    if ssl_users::count(&mut work, access.instance.id).await? >= MOST {
        let sentence =
            format!("This instance has {MOST} users of type ssl, and can't have more; delete one");
        return Err(Error::Refused(sentence));
    }
    if !ssl_users::insert(&mut work, access.instance.id, name, app.now()).await? {
        return Err(exists(name));
    }
    work.commit().await.map_err(Into::into)
}

fn is_being_given(name: &UserName) -> Error {
    let what = format!(
        "{name} is being given out by another call, or by a call whose outcome is not known yet; \
         try again in a minute"
    );
    Error::field("name", what)
}

fn exists(name: &UserName) -> Error {
    let what = format!(
        "a user {name} exists already; if its password is lost, delete it and make it again"
    );
    Error::field("name", what)
}
