//! Who may do what on a cluster. Kafka holds the ACLs; here are the numbers that
//! people know them by, and the words in which they asked.

mod create;
mod room;
mod rule;

pub use create::{MOST, NewAcls, create};
pub use rule::{Rule, Words, operations, patterns, resources};

use crate::resources::{Cluster, change};
use crate::{App, Error, InstanceAccess, Result};
use kafka::client::{Acl, Permission};
use kafka::rights;
use model::{InstanceId, Timestamp};
use room::with_numbers;
use std::collections::HashMap;
use store::{AclNumber, acls};

/// An ACL as people know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AclView {
    pub id: i64,
    pub user: String,
    pub words: Words,
    pub created_at: Timestamp,
}

/// In bytes. What an ACL says is in an index of the store, and PostgreSQL takes no entry
/// of more than 2,700.
const LONGEST: usize = 2600;

/// Every ACL that the contract has words for, by number.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<AclView>> {
    let cluster = Cluster::of_its_own(access, app).await?;
    let there = customers(&cluster, access).await?;
    let there = with_numbers(app, access.instance.id, there).await?;
    let mut views = numbered(app, access.instance.id, &there).await?;
    views.sort_by_key(|view| view.id);
    Ok(views)
}

/// Those that customers may see: not the default user's own rights, which the
/// control plane gives, nor those of names that are ours. What is so long that nobody
/// can give it a number, which takes Kafka's own protocol, must not hide the others.
async fn customers(cluster: &Cluster<'_>, access: &InstanceAccess) -> Result<Vec<Acl>> {
    let mut all = cluster.ask(|admin, at| admin.users().list_acls(at)).await?;
    let given = rights::of_default_user(&access.instance.username);
    all.retain(|acl| {
        acl.permission == Permission::Allow
            && user(acl).is_some_and(|name| !model::is_reserved(name))
            && !given.contains(acl)
            && can_be_kept(&acl.to_string())
    });
    Ok(all)
}

fn can_be_kept(says: &str) -> bool {
    says.len() <= LONGEST && !says.contains('\0')
}

/// In the order in which they are given. Those that have no number get one: made
/// through Kafka's protocol, or by a call that ended half-way.
async fn numbered(app: &App, id: InstanceId, there: &[Acl]) -> Result<Vec<AclView>> {
    let known = by_what_they_say(acls::list(&mut app.store().reader(), id).await?);
    let known = if there.iter().all(|acl| known.contains_key(&acl.to_string())) {
        known
    } else {
        let mut work = app.store().begin().await?;
        for acl in there {
            let words = words_text(&Words::from_acl(acl));
            acls::give(&mut work, id, &acl.to_string(), &words, app.now()).await?;
        }
        let numbers = acls::list(&mut work, id).await?;
        work.commit().await?;
        by_what_they_say(numbers)
    };
    let view = |acl: &Acl| {
        let number = known.get(&acl.to_string()).ok_or(Error::InvalidId)?;
        Ok(AclView {
            id: number.id,
            user: user(acl).unwrap_or_default().to_owned(),
            words: serde_json::from_str(&number.words).unwrap_or_else(|_| Words::from_acl(acl)),
            created_at: number.created_at,
        })
    };
    there.iter().map(view).collect()
}

fn words_text(words: &Words) -> String {
    serde_json::to_string(words).expect("plain data serialises")
}

fn by_what_they_say(numbers: Vec<AclNumber>) -> HashMap<String, AclNumber> {
    numbers.into_iter().map(|number| (number.says.clone(), number)).collect()
}

fn user(acl: &Acl) -> Option<&str> {
    acl.principal.strip_prefix("User:")
}

/// Takes a right away. `id` is none for a path segment that is no number. The number is not given
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
