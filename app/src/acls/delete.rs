//! The end of a right.

use super::list::{customers, numbered};
use super::room::with_numbers;
use crate::resources::{Cluster, change};
use crate::{App, Error, InstanceAccess, Result};
use store::acls;

/// `id` is none for a path segment that is no number. The number is not given
/// again.
pub async fn delete(access: &InstanceAccess, app: &App, id: Option<i64>) -> Result<()> {
    access.may_change()?;
    let cluster = Cluster::of_its_own(access, app).await?;
    let there = customers(&cluster, access).await?;
    let there = with_numbers(app, access.instance.id, there).await?;
    let views = numbered(app, access.instance.id, &there).await?;
    let view = views.into_iter().find(|view| Some(view.id) == id).ok_or(Error::NotFound)?;
    let acl = there.iter().find(|acl| view.words.acl(&view.user).as_ref() == Some(acl));
    let acl = acl.ok_or(Error::NotFound)?;
    let about = [("acl", view.id.to_string()), ("rule", acl.to_string())];
    let effect = Box::pin(async {
        let removed = cluster.alter_for_all(
            "GET acls tells whether it is there; if it is, delete it again",
            |admin, at| admin.users().remove_acl(at, acl),
            |admin, at| async move { Ok(!admin.users().list_acls(&at).await?.contains(acl)) },
        );
        removed.await?;
        let mut work = app.store().begin().await?;
        acls::retire(&mut work, access.instance.id, view.id).await?;
        work.commit().await.map_err(Into::into)
    });
    change(access, app, "acl.delete", &about, effect).await
}
