//! A new user.

use super::{User, UserType, everybody, hold, let_go};
use crate::resources::{Cluster, change};
use crate::{App, Asked, Error, InstanceAccess, Problems, Result};
use model::{Secret, UserName};
use store::certificates;
use store::ssl_users::{self, Purpose};

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
    if let Err(taken) = Box::pin(is_free(&cluster, access, app, &name, kind)).await {
        let_go(app, &held).await;
        return Err(taken);
    }
    let about = [("user", name.to_string()), ("type", kind.as_str().to_owned())];
    let user = User { name: name.to_string(), kind };
    let effect = Box::pin(async {
        match kind {
            UserType::Sasl => with_password(&cluster, app, &name).await.map(Some),
            UserType::Ssl => written_down(access, app, &name).await.map(|()| None),
        }
    });
    // One that fails stays held for its time: Kafka may still do what it was asked.
    let password = change(access, app, "user.create", &about, effect).await?;
    let_go(app, &held).await;
    Ok(NewUser { user, password })
}

fn validate(asked: NewUserAsked, mut problems: Problems) -> Result<(UserName, UserType)> {
    let given = problems.required("name", asked.name);
    let name = given.and_then(|name| problems.take("name", UserName::parse(name)));
    if name.as_ref().is_some_and(UserName::is_reserved) {
        problems.add("name", "is reserved; choose another one");
    }
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

/// While it is held, nobody else gives it out.
async fn is_free(
    cluster: &Cluster<'_>,
    access: &InstanceAccess,
    app: &App,
    name: &UserName,
    kind: UserType,
) -> Result<()> {
    let there = everybody(cluster, app, access.instance.id).await?;
    if there.iter().any(|user| user.name == name.as_str()) {
        return Err(exists(name));
    }
    match kind {
        UserType::Sasl => has_no_certificate(access, app, name).await,
        UserType::Ssl => Ok(()),
    }
}

/// Whoever has one would be the same user, with all of its rights.
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
async fn with_password(cluster: &Cluster<'_>, app: &App, name: &UserName) -> Result<Secret> {
    let password = app.entropy().password();
    let (name, word) = (name.as_str(), &password);
    cluster.ask(|admin, at| admin.set_scram_user(at, name, word)).await?;
    cluster
        .until_all_show(|admin, alone| async move {
            Ok(!admin.describe_scram_user(&alone, name).await?.is_empty())
        })
        .await;
    Ok(password)
}

async fn written_down(access: &InstanceAccess, app: &App, name: &UserName) -> Result<()> {
    let mut work = app.store().begin().await?;
    if !ssl_users::insert(&mut work, access.instance.id, name, app.now()).await? {
        return Err(exists(name));
    }
    work.commit().await.map_err(Into::into)
}

fn is_being_given(name: &UserName) -> Error {
    let what = format!("{name} is being given out by another call; try again in a minute");
    Error::field("name", what)
}

fn exists(name: &UserName) -> Error {
    Error::field("name", format!("a user {name} exists already"))
}
