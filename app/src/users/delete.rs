//! The end of a user, of its rights and of its certificates.

use super::everybody;
use crate::ca::revoke_all;
use crate::resources::{Cluster, change};
use crate::{App, Error, InstanceAccess, Result};
use model::UserName;
use store::{acls, ssl_users};

pub async fn delete(access: &InstanceAccess, app: &App, name: &str) -> Result<()> {
    access.may_change()?;
    let cluster = Cluster::of_its_own(access, app).await?;
    // Every user that is listed can go, also with a name that only Kafka's own protocol gives.
    let there = everybody(&cluster, app, access.instance.id).await?;
    if !there.iter().any(|user| user.name == name) {
        return Err(Error::NotFound);
    }
    if name == access.instance.username {
        let sentence = "The default user can't be deleted; give it another password instead";
        return Err(Error::Refused(sentence.into()));
    }
    if name.contains('\0') {
        let sentence =
            "The user's name has a NUL character; delete it through Kafka's own protocol";
        return Err(Error::Refused(sentence.into()));
    }
    let about = [("user", name.to_owned())];
    change(access, app, "user.delete", &about, Box::pin(remove(&cluster, access, app, name))).await
}

/// Rights first: one that is left half-way is still listed, and can be deleted
/// again.
async fn remove(
    cluster: &Cluster<'_>,
    access: &InstanceAccess,
    app: &App,
    name: &str,
) -> Result<()> {
    let principal = &format!("User:{name}");
    let see = &format!("GET users tells whether {name} is there; if it is, delete it again");
    let rights = cluster.alter_for_all(
        see,
        |admin, at| admin.remove_acls(at, principal),
        |admin, at| async move { Ok(admin.describe_acls(&at, principal).await?.is_empty()) },
    );
    rights.await?;
    let id = access.instance.id;
    let mut work = app.store().begin().await?;
    // Whose an ACL is, it says first.
    acls::retire_all(&mut work, id, &format!("{principal}: ")).await?;
    work.commit().await?;
    let password = cluster.alter_for_all(
        see,
        |admin, at| admin.remove_scram_user(at, name),
        |admin, at| async move { Ok(admin.describe_scram_user(&at, name).await?.is_empty()) },
    );
    password.await?;
    let mut work = app.store().begin().await?;
    // What is written down here has no other names.
    if let Ok(name) = UserName::parse(name) {
        ssl_users::remove(&mut work, id, &name).await?;
        ssl_users::forget_unknown(&mut work, id, &name).await?;
    }
    // Another user of this name, later, is not the holder of such a certificate.
    revoke_all(access, app, &mut work, name).await?;
    work.commit().await.map_err(Into::into)
}
