//! What leaves the installation for people: mail, and notifications by whichever channel
//! their recipients chose.
//!
//! [`Outbox`] takes rows from the store, sends each at least once and records the outcome.
//! A channel makes one attempt: it keeps nothing and tries nothing twice. Nothing here
//! logs what a message says, and nothing here decides who is notified of what.

mod channels;
mod error;
mod files;
mod letter;
mod notifier;
mod outbox;
mod settings;
mod smtp;
mod words;

pub use egress::{Fault, Forbidden};
pub use error::NotifyError;
pub use files::MailFiles;
pub use letter::{BadSender, Sender};
pub use notifier::{Notifier, Notify, Undelivered};
pub use outbox::Outbox;
pub use settings::{BadSettings, Endpoints, Settings};
pub use smtp::{BadServer, Smtp, SmtpSettings};

use async_trait::async_trait;
use model::{Mail, MessageId, Timestamp};
use std::path::PathBuf;

/// A mail with what makes it the same one when it is sent again.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    pub id: MessageId,
    /// When it was written.
    pub at: Timestamp,
    pub mail: &'a Mail,
}

/// What became of a mail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sent {
    /// A mail server has taken it.
    Taken,
    /// It lies in this file.
    Written(PathBuf),
}

/// Why it could not be sent now. It may work later, also where a server says
/// otherwise: operators mend their settings.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error("the mail can't be put together: {0}")]
    Letter(#[from] lettre::error::Error),
    #[error("the mail server did not take it: {}", in_one_line(.0))]
    Smtp(#[from] lettre::transport::smtp::Error),
    #[error("the mail server did not answer within {0} s")]
    Silent(u64),
    #[error("{} can't be written: {source}", .path.display())]
    File { path: PathBuf, source: std::io::Error },
}

/// A way for mail to go out.
#[async_trait]
pub trait Mailer: Send + Sync {
    async fn send(&self, outgoing: Outgoing<'_>) -> Result<Sent, SendError>;
}

/// An error with its causes; a server's own words may have lines.
fn in_one_line(error: &lettre::transport::smtp::Error) -> String {
    let mut line = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !line.contains(&said) {
            line = format!("{line}: {said}");
        }
        cause = error.source();
    }
    line.replace(char::is_control, " ")
}
