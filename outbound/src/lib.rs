//! What leaves the installation for people: mail, and alarms by whichever way
//! their recipients chose.
//!
//! This crate sends one message and says what became of it. It keeps nothing,
//! tries nothing twice and knows no store; whoever calls it does that. Nothing
//! here logs what a message says.

mod channels;
mod error;
mod files;
mod letter;
mod notifier;
mod settings;
mod smtp;
mod words;

pub use egress::{Fault, Forbidden};
pub use error::NotifyError;
pub use files::MailFiles;
pub use letter::{BadSender, Sender};
pub use notifier::Notifier;
pub use settings::{BadSettings, Endpoints, OutboundSettings};
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
