//! Asking the owner of an e-mail address outside the team whether alarms may go there.
//!
//! One mail with a link is all that goes to such an address before the link is used, at
//! most one a day from an account. The link shows two answers: alarms may come, or no
//! mail from this installation ever again. It works until it is replaced, so that its
//! holder can change their mind.

use crate::audit::Actor;
use crate::{App, Asked, Error, Result, Source, audit, mail};
use model::{
    AccountId, Email, InstanceId, LastStatus, Mail, MailStanding, Recipient, RecipientType, Secret,
    SignedDuration,
};
use store::mail_consents::{self, Consent};
use store::send_counts::{self, Limit};
use store::{Work, accounts, instances, outbox, recipients};
use watch::alarms::enqueue_for_newcomer;

/// No second mail with a link goes to an address within this time.
const BETWEEN_MAILS: SignedDuration = SignedDuration::from_hours(24);
/// Each answer is a line in the account's audit log.
const ANSWERS_PER_DAY: u32 = 20;
const DAY: SignedDuration = SignedDuration::from_hours(24);
const TIME: &str = "%Y-%m-%d %H:%M UTC";

/// What became of a recipient that may need a confirmation.
pub(super) enum Asking {
    NotNeeded,
    /// A mail with a link is on its way.
    Sent,
    /// None can go out now; why, and what to do.
    Waiting(String),
}

/// Sends a mail with a link if this recipient needs one and it may go out, and has
/// `last_status` say what the recipient waits for.
pub(super) async fn ask(
    work: &mut Work,
    app: &App,
    (account, instance): (AccountId, InstanceId),
    recipient: &Recipient,
) -> Result<Asking> {
    if recipient.kind != RecipientType::Email || !recipient.is_readable() {
        return Ok(Asking::NotNeeded);
    }
    let (email, now) = (recipient.value.expose(), app.now());
    let standing = mail_consents::standing(work, account, email).await?;
    let Some(waits) = standing.refusal(email) else { return Ok(Asking::NotNeeded) };
    let asking = match standing {
        MailStanding::Blocked => Asking::Waiting(waits),
        MailStanding::Asked(at) if now < at + BETWEEN_MAILS => {
            let again = (at + BETWEEN_MAILS).strftime(TIME);
            Asking::Waiting(format!("{waits}; a test after {again} sends the link again"))
        }
        _ => match mail::count_unrequested(work, app, account, email).await? {
            None => send_link(work, app, account, email).await?,
            Some(exceeded) => Asking::Waiting(format!(
                "waiting for confirmation: no mail with a link can go to {email} before {}, \
                 because the limit of such mails is reached; test this recipient then to send one",
                exceeded.until.strftime(TIME)
            )),
        },
    };
    let message = match &asking {
        Asking::Waiting(sentence) => sentence.clone(),
        _ => MailStanding::Asked(now).refusal(email).unwrap_or_default(),
    };
    let status = LastStatus { at: now, ok: false, message };
    recipients::set_last_status(work, instance, recipient.id, &status).await?;
    Ok(asking)
}

async fn send_link(work: &mut Work, app: &App, account: AccountId, email: &str) -> Result<Asking> {
    let to = Email::parse(email).map_err(|_| Error::internal("a recipient is no address"))?;
    let team = accounts::find(work, account).await?.ok_or(Error::InvalidId)?.name;
    let (token, now) = (app.entropy().key(), app.now());
    mail_consents::ask(work, account, email, &token, now).await?;
    let about = format!("confirmations/{account}/{}", model::email_key(email));
    // One that is not out yet has a link that does not work any more.
    outbox::withdraw(work, &about).await?;
    let team = mail::in_one_line(&team);
    let mail = Mail {
        to,
        subject: format!("May the team {team} send you its alarms?"),
        text: text(&app.settings.public_url, &team, &token),
        html: None,
    };
    outbox::insert(work, &mail::message(about, &mail), now).await?;
    Ok(Asking::Sent)
}

fn text(public_url: &str, team: &str, token: &Secret) -> String {
    let url = public_url.trim_end_matches('/');
    format!(
        "The team {team} on Castellan wants to send alarms of its Kafka clusters to this \
         address.\n\n\
         Open this link to allow it, or to get no mail from here ever again:\n\n\
         {url}/confirmations/{}\n\n\
         Keep this mail: the link is also how you stop the alarms later. If you do nothing, \
         none are sent.\n",
        token.expose(),
    )
}

/// Who holds a link.
#[derive(Clone, Debug)]
pub struct Addressee {
    token: Secret,
    source: Source,
    consent: Consent,
    standing: MailStanding,
    /// The account's name.
    team: String,
}

impl Addressee {
    pub fn team(&self) -> &str {
        &self.team
    }

    pub fn email(&self) -> &str {
        &self.consent.email
    }

    pub fn standing(&self) -> MailStanding {
        self.standing
    }
}

/// What the owner of an address decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Allow,
    /// No mail from this installation, whichever account asks.
    Never,
}

impl Answer {
    fn parse(text: &str) -> std::result::Result<Self, &'static str> {
        match text {
            "allow" => Ok(Self::Allow),
            "never" => Ok(Self::Never),
            _ => Err("must be allow or never"),
        }
    }
}

/// Who holds this link. One that never was or was replaced is not found.
pub async fn addressee(source: Source, app: &App, token: Secret) -> Result<Addressee> {
    let mut reader = app.store().reader();
    let consent = mail_consents::find(&mut reader, &token).await?.ok_or(Error::NotFound)?;
    let account = accounts::find(&mut reader, consent.account_id).await?.ok_or(Error::NotFound)?;
    let standing = mail_consents::standing(&mut reader, consent.account_id, &consent.email).await?;
    Ok(Addressee { token, source, consent, standing, team: account.name })
}

/// Writes down what the owner of the address decided. Alarms that fire now are sent to
/// an address that allows it.
pub async fn answer(
    addressee: &Addressee,
    app: &App,
    asked: Asked<Option<String>>,
) -> Result<Answer> {
    let (answer, mut problems) = asked.open()?;
    let answer = problems
        .required("answer", answer)
        .and_then(|text| problems.take("answer", Answer::parse(&text)));
    problems.finish()?;
    let answer = answer.ok_or_else(|| Error::internal("a field is missing without a problem"))?;
    let mut work = app.store().begin().await?;
    let consent = mail_consents::find(&mut work, &addressee.token).await?;
    let consent = consent.ok_or(Error::NotFound)?;
    let limit = Limit::of_mailbox("answers", &consent.email, ANSWERS_PER_DAY, DAY);
    if let Some(exceeded) = send_counts::spend(&mut work, &[limit], app.now()).await? {
        return Err(Error::too_many(app.now(), exceeded.until));
    }
    if write(&mut work, app, &consent, answer).await? {
        let event = match answer {
            Answer::Allow => "recipient.confirm",
            Answer::Never => "recipient.block",
        };
        let (account_id, email) = (consent.account_id, consent.email.as_str());
        let actor = Actor { account_id, source: addressee.source, user: email };
        let extras = [("email", email.to_owned())];
        audit::write(&mut work, actor, app.now(), event, &extras).await?;
        work.commit().await?;
    }
    Ok(answer)
}

/// False if it is so already.
async fn write(work: &mut Work, app: &App, consent: &Consent, answer: Answer) -> Result<bool> {
    let now = app.now();
    let before = mail_consents::standing(work, consent.account_id, &consent.email).await?;
    let status = match answer {
        Answer::Allow if before == MailStanding::Confirmed => return Ok(false),
        Answer::Never if before == MailStanding::Blocked => return Ok(false),
        Answer::Allow => {
            mail_consents::confirm(work, consent, now).await?;
            LastStatus { at: now, ok: true, message: "confirmed; nothing was sent yet".into() }
        }
        Answer::Never => {
            mail_consents::block(work, consent, now).await?;
            let message = MailStanding::Blocked.refusal(&consent.email).unwrap_or_default();
            LastStatus { at: now, ok: false, message }
        }
    };
    // Mail to a member does not depend on the link.
    if before == MailStanding::Team {
        return Ok(true);
    }
    for (id, recipient) in
        recipients::find_by_email(work, consent.account_id, &consent.email).await?
    {
        recipients::set_last_status(work, id, recipient, &status).await?;
        if answer == Answer::Allow
            && let Some(instance) = instances::find(work, id).await?
        {
            enqueue_for_newcomer(work, app.watch(), &instance, recipient).await?;
        }
    }
    Ok(true)
}
