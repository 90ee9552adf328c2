//! A letter on its way out, whom it may go to, and how many may.

use crate::{Email, Timestamp};
use serde::{Deserialize, Serialize};

/// What is to be sent. It waits in the store as a document, sealed, so it may
/// hold a link that lets somebody in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mail {
    pub to: Email,
    /// One line; whatever would break it is taken out when it is sent.
    pub subject: String,
    pub text: String,
    /// The same with looks, for programs that show them; none: the text alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

/// Whether an account may send alarms to an e-mail address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MailStanding {
    /// A member of the team, or the team's e-mail.
    Team,
    Confirmed,
    /// A mail with a link was written then, and the link was not used yet.
    Asked(Timestamp),
    Unasked,
    /// The owner of the address wants no mail from this installation.
    Blocked,
}

impl MailStanding {
    /// Why alarms don't go to that address, for `last_status`; none: they do.
    pub fn refusal(self, email: &str) -> Option<String> {
        match self {
            Self::Team | Self::Confirmed => None,
            Self::Asked(at) => Some(format!(
                "waiting for confirmation: a mail with a link went to {email} on {}; alarms are \
                 sent there once the link is used",
                at.strftime("%Y-%m-%d at %H:%M UTC")
            )),
            Self::Unasked => Some(format!(
                "waiting for confirmation: no mail with a link went to {email} yet; test this \
                 recipient to send one"
            )),
            Self::Blocked => Some(format!(
                "not sent: {email} wants no mail from here; its owner can allow it by the link in \
                 the first mail"
            )),
        }
    }
}

/// How many messages may be sent; 0: any number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MessageLimits {
    /// Invitations and mails with a link to confirm, which the receiver did not ask for, to
    /// one mailbox from all accounts.
    pub unrequested_mails_per_mailbox_per_day: u32,
    pub tests_per_account_per_hour: u32,
    /// From all accounts; a destination is a mailbox, or the address or key of another type.
    pub tests_per_destination_per_hour: u32,
    /// Alarms and tests that are sent. What is beyond that waits.
    pub notifications_per_account_per_hour: u32,
    /// From all accounts.
    pub notifications_per_destination_per_hour: u32,
}

impl MessageLimits {
    pub const OFF: Self = Self {
        unrequested_mails_per_mailbox_per_day: 0,
        tests_per_account_per_hour: 0,
        tests_per_destination_per_hour: 0,
        notifications_per_account_per_hour: 0,
        notifications_per_destination_per_hour: 0,
    };
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self {
            unrequested_mails_per_mailbox_per_day: 5,
            tests_per_account_per_hour: 60,
            tests_per_destination_per_hour: 20,
            notifications_per_account_per_hour: 3000,
            notifications_per_destination_per_hour: 300,
        }
    }
}
