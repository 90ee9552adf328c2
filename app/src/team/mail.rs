//! What an invitation says.

use crate::{App, mail};
use model::{Email, Invitation, InvitationId, Mail, Secret};
use store::NewMessage;

/// Who invites.
pub(super) struct From<'a> {
    pub account: &'a str,
    pub email: &'a str,
}

/// By which the mail of an invitation is known in the outbox.
pub(super) fn about(id: InvitationId) -> String {
    format!("invitations/{id}")
}

pub(super) fn invitation(
    app: &App,
    from: &From<'_>,
    invitation: &Invitation,
    to: Email,
    token: &Secret,
) -> NewMessage {
    let team = mail::in_one_line(from.account);
    let from = From { account: &team, email: from.email };
    let mail = Mail {
        to,
        subject: format!("You are invited to the team {team}"),
        text: text(&app.settings.public_url, &from, invitation, token),
        html: None,
    };
    mail::message(about(invitation.id), &mail)
}

fn text(public_url: &str, from: &From<'_>, invitation: &Invitation, token: &Secret) -> String {
    let From { account, email } = from;
    let url = public_url.trim_end_matches('/');
    format!(
        "{email} invites you to the team {account} on Castellan, with the role {}.\n\n\
         Open this link to choose a name and a password:\n\n\
         {url}/invitations/{}\n\n\
         It works once, until {} UTC. If you did not expect this mail, do nothing.\n",
        invitation.role,
        token.expose(),
        invitation.expires_at.strftime("%Y-%m-%d %H:%M"),
    )
}
