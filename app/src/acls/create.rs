//! New rights of a user.

use super::room::make_room;
use super::{AclView, Rule, Words};
use super::{numbered, words_text};
use crate::resources::{Cluster, change};
use crate::users::chosen_name;
use crate::{App, Asked, Error, InstanceAccess, Problems, Result};
use kafka::client::{Acl, Admin};
use kafka::rights;
use model::UserName;
use store::acls as numbers;

/// At once; more are asked for in another call.
pub const MOST: usize = 100;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewAcls {
    pub user: Option<String>,
    pub rules: Option<Vec<Rule>>,
}

/// The ACLs of the rules, in their order. One that was there keeps its number.
pub async fn create(
    access: &InstanceAccess,
    app: &App,
    asked: Asked<NewAcls>,
) -> Result<Vec<AclView>> {
    access.may_change()?;
    let (asked, problems) = asked.open()?;
    let (user, rules) = validate(asked, problems)?;
    let wanted: Vec<(Acl, Words)> =
        rules.into_iter().filter_map(|words| Some((words.acl(user.as_str())?, words))).collect();
    can_be_told(access, &wanted)?;
    let cluster = Cluster::of_its_own(access, app).await?;
    let there = cluster.ask(|admin, at| admin.users().list_acls(at)).await?;
    if let Some(views) = unchanged(&cluster, access, app, &wanted, &there).await? {
        return Ok(views);
    }
    make_room(app, access.instance.id, &there, wanted.iter().map(|(acl, _)| acl)).await?;
    let said: Vec<String> = wanted.iter().map(|(acl, _)| acl.to_string()).collect();
    let about = [("user", user.to_string()), ("rules", said.join(", "))];
    change(access, app, "acl.create", &about, Box::pin(make(&cluster, access, app, &wanted))).await
}

fn validate(asked: NewAcls, mut problems: Problems) -> Result<(UserName, Vec<Words>)> {
    let user = chosen_name(&mut problems, "user", asked.user);
    let rules = problems.required("rules", asked.rules).unwrap_or_default();
    if rules.len() > MOST {
        problems.add("rules", format!("must be at most {MOST}"));
    }
    if rules.is_empty() {
        problems.required("rules", None::<()>);
    }
    let rules = rules.into_iter().take(MOST).enumerate();
    let words = rules
        .filter_map(|(number, rule)| {
            problems.within("rules", number, |problems| rule.words(problems))
        })
        .collect();
    problems.finish()?;
    let user = user.ok_or_else(|| Error::field("user", "Field is required"))?;
    Ok((user, words))
}

/// What the default user has from us is not listed and can't be deleted, so nobody
/// gets a number for it either.
fn can_be_told(access: &InstanceAccess, wanted: &[(Acl, Words)]) -> Result<()> {
    let given = rights::of_default_user(&access.instance.username);
    let Some((_, words)) = wanted.iter().find(|(acl, _)| given.contains(acl)) else {
        return Ok(());
    };
    let Words { operation, resource, resource_pattern, .. } = words;
    let what = format!(
        "must not have {operation} on {resource} {resource_pattern}, which the default user \
         always has; leave it out"
    );
    Err(Error::field("rules", what))
}

/// The ACLs if all of them are there, by these words. Then there is nothing to change and
/// nothing to tell the audit log.
async fn unchanged(
    cluster: &Cluster<'_>,
    access: &InstanceAccess,
    app: &App,
    wanted: &[(Acl, Words)],
    there: &[Acl],
) -> Result<Option<Vec<AclView>>> {
    if cluster.may_show_old() || !wanted.iter().all(|(acl, _)| there.contains(acl)) {
        return Ok(None);
    }
    let acls: Vec<Acl> = wanted.iter().map(|(acl, _)| acl.clone()).collect();
    let views = numbered(app, access.instance.id, &acls).await?;
    if views.iter().zip(wanted).any(|(view, (_, words))| view.words != *words) {
        return Ok(None);
    }
    let all = &acls;
    cluster.until_all_show(|admin, at| async move { all_there(admin, at, all).await }).await;
    Ok(Some(views))
}

async fn all_there(
    admin: &dyn Admin,
    at: kafka::client::Cluster,
    wanted: &[Acl],
) -> std::result::Result<bool, kafka::client::Error> {
    let there = admin.users().list_acls(&at).await?;
    Ok(wanted.iter().all(|acl| there.contains(acl)))
}

/// In Kafka first: a number without an ACL would be a promise that nobody keeps.
async fn make(
    cluster: &Cluster<'_>,
    access: &InstanceAccess,
    app: &App,
    wanted: &[(Acl, Words)],
) -> Result<Vec<AclView>> {
    let acls: Vec<Acl> = wanted.iter().map(|(acl, _)| acl.clone()).collect();
    let all = &acls;
    let added = cluster.alter_for_all(
        "GET acls tells which rules are there, and the same call can be repeated",
        |admin, at| admin.add_acls(at, all),
        |admin, at| async move { all_there(admin, at, all).await },
    );
    added.await?;
    let id = access.instance.id;
    let mut work = app.store().begin().await?;
    for (acl, words) in wanted {
        let (says, words) = (acl.to_string(), words_text(words));
        numbers::give(&mut work, id, &says, &words, app.now()).await?;
        numbers::set_words(&mut work, id, &says, &words).await?;
    }
    work.commit().await?;
    numbered(app, id, all).await
}
