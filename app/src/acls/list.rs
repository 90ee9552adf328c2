//! Every ACL that the contract has words for, by number.

use super::room::with_numbers;
use super::{AclView, Words};
use crate::resources::Cluster;
use crate::{App, Error, InstanceAccess, Result};
use kafka::client::{Acl, Permission};
use kafka::rights;
use model::InstanceId;
use std::collections::HashMap;
use store::{AclNumber, acls};

/// In bytes. What an ACL says is in an index of the store, and PostgreSQL takes no entry
/// of more than 2,700.
const LONGEST: usize = 2600;

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
pub(super) async fn customers(cluster: &Cluster<'_>, access: &InstanceAccess) -> Result<Vec<Acl>> {
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
pub(super) async fn numbered(app: &App, id: InstanceId, there: &[Acl]) -> Result<Vec<AclView>> {
    let known = by_what_they_say(acls::list(&mut app.store().reader(), id).await?);
    let known = if there.iter().all(|acl| known.contains_key(&acl.to_string())) {
        known
    } else {
        let mut work = app.store().begin().await?;
        for acl in there {
            let words = words_text(&Words::of(acl));
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
            words: serde_json::from_str(&number.words).unwrap_or_else(|_| Words::of(acl)),
            created_at: number.created_at,
        })
    };
    there.iter().map(view).collect()
}

pub(super) fn words_text(words: &Words) -> String {
    serde_json::to_string(words).expect("plain data serialises")
}

fn by_what_they_say(numbers: Vec<AclNumber>) -> HashMap<String, AclNumber> {
    numbers.into_iter().map(|number| (number.says.clone(), number)).collect()
}

fn user(acl: &Acl) -> Option<&str> {
    acl.principal.strip_prefix("User:")
}
