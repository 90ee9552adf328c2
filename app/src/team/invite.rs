//! Asking somebody into the team: a link that works once, sent by mail.
//!
//! The answer is the same whether or not that e-mail is known elsewhere.

use super::{grants, mail};
use crate::mail::count_unrequested;
use crate::{App, Asked, Caller, Error, Grant, Problems, Result, Right, audit, limits};
use model::{AccountId, Email, Invitation, InvitationId, Role, SignedDuration, Tags};
use store::{Work, accounts, invitations, mail_consents, outbox, users};

const LIFE: SignedDuration = SignedDuration::from_hours(24 * 7);

/// Whom to ask and as what, as sent.
#[derive(Clone, Debug, Default)]
pub struct NewInvitation {
    pub email: Option<String>,
    /// Member if absent.
    pub role: Option<String>,
    pub tags: Option<Vec<String>>,
}

/// Invites, and answers with the e-mail. Inviting again replaces the link.
pub async fn invite(caller: &Caller, app: &App, asked: Asked<NewInvitation>) -> Result<Email> {
    caller.may(Right::ManageTeam)?;
    let (new, problems) = asked.open()?;
    let (email, grant) = check(new, problems)?;
    let now = app.now();
    let token = app.entropy().key();
    let invitation = Invitation {
        id: InvitationId(app.entropy().uuid()),
        account_id: caller.account_id,
        email: email.to_string(),
        role: grant.role,
        tags: grant.tags.clone(),
        created_at: now,
        expires_at: now + LIFE,
    };

    let mut work = app.store().begin().await?;
    caller.confirm(&mut work, Right::ManageTeam).await?;
    if users::find_by_email(&mut work, caller.account_id, email.as_str()).await?.is_some() {
        return Err(Error::field("email", format!("{email} is in the team already")));
    }
    if mail_consents::is_blocked(&mut work, email.as_str()).await? {
        return Err(Error::field("email", format!("{email} wants no mail from here")));
    }
    let counted = count_unrequested(&mut work, app, caller.account_id, email.as_str()).await?;
    counted.map_or(Ok(()), |exceeded| Err(Error::too_many(now, exceeded.until)))?;
    withdraw(&mut work, caller.account_id, email.as_str()).await?;
    limits::check_user(&mut work, app, caller.account_id).await?;
    invitations::insert(&mut work, &invitation, &token).await?;
    let account = accounts::find(&mut work, caller.account_id).await?;
    let account = account.ok_or(Error::NOT_AUTHORIZED)?;
    let sender = mail::From { account: &account.name, email: &caller.email };
    let message = mail::invitation(app, &sender, &invitation, email.clone(), &token);
    outbox::insert(&mut work, &message, now).await?;
    let extras = grants::extras(email.as_str(), &grant);
    audit::write(&mut work, caller, now, "team.invite", &extras).await?;
    work.commit().await?;
    Ok(email)
}

fn check(new: NewInvitation, mut problems: Problems) -> Result<(Email, Grant)> {
    let email = problems
        .required("email", new.email)
        .and_then(|email| problems.take("email", Email::parse(email)));
    let nothing = Grant { role: Role::Member, tags: Tags::default() };
    let grant = grants::read(&mut problems, new.role.as_deref(), new.tags, &nothing);
    problems.finish()?;
    let email = email.ok_or_else(|| Error::internal("a field is missing without a problem"))?;
    Ok((email, grant))
}

/// Takes back what waits for this e-mail: the link, and its mail if that is
/// not out yet.
pub(super) async fn withdraw(
    work: &mut Work,
    account: AccountId,
    email: &str,
) -> Result<Option<Invitation>> {
    let Some(old) = invitations::find_by_email(work, account, email).await? else {
        return Ok(None);
    };
    invitations::remove(work, old.id).await?;
    outbox::withdraw(work, &mail::about(old.id)).await?;
    Ok(Some(old))
}
