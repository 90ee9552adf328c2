//! Taking up an invitation. Looking at it uses nothing up.

use super::grants;
use super::mail::about;
use crate::audit::Actor;
use crate::{App, Asked, Error, Grant, Problems, Result, Source, audit, passwords};
use model::{Invitation, PersonName, Secret, User, UserId};
use store::{accounts, invitations, outbox, users};

/// Whoever holds a link that still works.
#[derive(Clone, Debug)]
pub struct Invitee {
    token: Secret,
    source: Source,
    invitation: Invitation,
    /// The account's name.
    team: String,
}

impl Invitee {
    pub fn team(&self) -> &str {
        &self.team
    }

    pub fn invitation(&self) -> &Invitation {
        &self.invitation
    }
}

/// What a person says when they join, as sent.
#[derive(Clone, Debug, Default)]
pub struct Acceptance {
    pub name: Option<String>,
    pub password: Option<Secret>,
}

/// A new member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Joined {
    pub team: String,
    pub name: String,
    pub user_id: UserId,
}

/// Who holds this link. One that never was, was used, was replaced or has
/// expired is not found.
pub async fn invitee(source: Source, app: &App, token: Secret) -> Result<Invitee> {
    let mut reader = app.store().reader();
    let found = invitations::find(&mut reader, &token, app.now()).await?;
    let invitation = found.ok_or(Error::NotFound)?;
    let account = accounts::find(&mut reader, invitation.account_id).await?;
    let team = account.ok_or(Error::NotFound)?.name;
    Ok(Invitee { token, source, invitation, team })
}

/// Makes the invitee a member with the role and tags of the invitation. Of
/// several at once one joins.
pub async fn join(invitee: &Invitee, app: &App, asked: Asked<Acceptance>) -> Result<Joined> {
    let (accepted, problems) = asked.open()?;
    let (name, password) = check(accepted, problems, &invitee.invitation.email)?;
    // Before the transaction: it takes as long as many of them.
    let hash = passwords::hash(app, &password).await?;
    let now = app.now();
    let mut work = app.store().begin().await?;
    let invitation = invitations::find(&mut work, &invitee.token, now).await?;
    let invitation = invitation.ok_or(Error::NotFound)?;
    invitations::remove(&mut work, invitation.id).await?;
    outbox::withdraw(&mut work, &about(invitation.id)).await?;
    let account_id = invitation.account_id;
    if users::find_by_email(&mut work, account_id, &invitation.email).await?.is_some() {
        return Err(Error::Refused(format!("{} is in the team already", invitation.email)));
    }
    let user = User {
        id: UserId(app.entropy().uuid()),
        account_id,
        email: invitation.email,
        name: name.as_str().into(),
        tfa_enabled: false,
        role: invitation.role,
        tags: invitation.tags,
        created_at: now,
    };
    users::insert(&mut work, &user).await?;
    users::set_password_hash(&mut work, user.id, &hash).await?;
    let actor = Actor { account_id, source: invitee.source, user: &user.email };
    let grant = Grant { role: user.role, tags: user.tags.clone() };
    let extras = grants::extras(&user.email, &grant);
    audit::write(&mut work, actor, now, "team.join", &extras).await?;
    work.commit().await?;
    Ok(Joined { team: invitee.team.clone(), name: user.name, user_id: user.id })
}

fn check(
    accepted: Acceptance,
    mut problems: Problems,
    email: &str,
) -> Result<(PersonName, Secret)> {
    let name = problems
        .required("name", accepted.name)
        .and_then(|name| problems.take("name", PersonName::parse(&name)));
    let password = problems.required("password", accepted.password);
    if let Some(password) = &password {
        problems.take("password", passwords::check(password, email));
    }
    problems.finish()?;
    name.zip(password).ok_or_else(|| Error::internal("a field is missing without a problem"))
}
