//! How many ACLs of an instance have numbers.
//!
//! A number outlives an ACL that was deleted through Kafka's own protocol, until there are
//! too many: then numbers of ACLs that are not there are forgotten.

use crate::{App, Error, Result};
use kafka::client::Acl;
use model::InstanceId;
use std::collections::BTreeSet;
use store::acls;

pub(super) const MOST: usize = 5000;

/// Fails unless there are numbers for all of these as well. `there` is every ACL of the
/// cluster.
pub(super) async fn make_room<'a>(
    app: &App,
    id: InstanceId,
    there: &[Acl],
    wanted: impl Iterator<Item = &'a Acl>,
) -> Result<()> {
    let wanted: BTreeSet<String> = wanted.map(ToString::to_string).collect();
    let has = with_room(app, id, there, &wanted).await?;
    let new = wanted.difference(&has).count();
    if has.len() + new <= MOST {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "An instance can have at most {MOST} ACLs; this one has {}, and {new} more would be \
         needed. Delete what is not needed, or use patterns of type prefixed",
        has.len()
    )))
}

/// The ACLs that have numbers or can get one, in their order. The others are too many.
pub(super) async fn with_numbers(app: &App, id: InstanceId, there: Vec<Acl>) -> Result<Vec<Acl>> {
    let all: BTreeSet<String> = there.iter().map(ToString::to_string).collect();
    let has = with_room(app, id, &there, &all).await?;
    let mut left = MOST.saturating_sub(has.len());
    let mut fits = |acl: &Acl| {
        let is_numbered = has.contains(&acl.to_string());
        let fits = is_numbered || left > 0;
        left -= usize::from(fits && !is_numbered);
        fits
    };
    Ok(there.into_iter().filter(|acl| fits(acl)).collect())
}

/// What has a number. Where the wanted ones would be too many beside them, numbers of ACLs
/// that are not there are forgotten first.
async fn with_room(
    app: &App,
    id: InstanceId,
    there: &[Acl],
    wanted: &BTreeSet<String>,
) -> Result<BTreeSet<String>> {
    let says = |numbers: Vec<store::AclNumber>| -> BTreeSet<String> {
        let held = numbers.into_iter().filter(|number| !number.is_retired());
        held.map(|number| number.says).collect()
    };
    let has = says(acls::list(&mut app.store().reader(), id).await?);
    if has.union(wanted).count() <= MOST {
        return Ok(has);
    }
    let there: BTreeSet<String> = there.iter().map(ToString::to_string).collect();
    // Where nothing can be forgotten, other writers of the store don't wait for us.
    if has.is_subset(&there) {
        return Ok(has);
    }
    let mut work = app.store().begin().await?;
    acls::retire_others(&mut work, id, &there).await?;
    let has = says(acls::list(&mut work, id).await?);
    work.commit().await?;
    Ok(has)
}
