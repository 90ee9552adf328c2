//! Why somebody could not be told now. Customers read these sentences, so they
//! hold nothing that a destination answered and no part of an address but its
//! host: paths, queries and headers are secrets.

use crate::SendError;
use crate::destinations::Forbidden;
use std::error::Error;
use std::io;
use std::time::Duration;

/// Why one attempt failed. It may work later, whatever the reason: people mend
/// their addresses and keys.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    #[error("the recipient's value is not what its type needs")]
    Value,
    #[error("{host} {fault}")]
    Call { host: String, fault: Fault },
    #[error("the mail server {}", mail_fault(.0))]
    Mail(#[source] SendError),
}

impl NotifyError {
    /// For how long the destination wants to be left alone, if it said so and
    /// never for long.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Call { fault: Fault::Status { retry_after, .. }, .. } => *retry_after,
            _ => None,
        }
    }
}

/// What went wrong with a call.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    #[error("can't be called: {0}")]
    Forbidden(Forbidden),
    #[error("can't be found by its name")]
    UnknownName,
    #[error("can't be reached")]
    Unreachable,
    #[error("can't be called: its certificate is not trusted")]
    Untrusted,
    #[error("can't be called: no secure connection can be made to it")]
    NoTls,
    #[error("did not answer within {0} s")]
    Silent(u64),
    #[error("broke off, or gave no answer in HTTP")]
    NoAnswer,
    #[error("answered {0}, and redirects are not followed")]
    Redirect(u16),
    #[error("answered {status}")]
    Status { status: u16, retry_after: Option<Duration> },
}

impl Fault {
    pub(crate) fn of(error: &reqwest::Error) -> Self {
        if let Some(forbidden) = cause::<Forbidden>(error) {
            return Self::Forbidden(*forbidden);
        }
        match cause::<rustls::Error>(error) {
            Some(rustls::Error::InvalidCertificate(_)) => Self::Untrusted,
            Some(_) => Self::NoTls,
            None if error.is_dns() => Self::UnknownName,
            // Also where a peer hangs up in the midst of a handshake.
            None if error.is_connect() => Self::Unreachable,
            None => Self::NoAnswer,
        }
    }
}

/// The first cause of a kind. Errors of input and output hide theirs.
fn cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = within.map(|error| error as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}

/// A mail server's own words stay out of it.
fn mail_fault(error: &SendError) -> String {
    match error {
        SendError::Letter(_) => "gets nothing: the mail can't be put together".into(),
        SendError::Smtp(error) => match error.status() {
            Some(code) => format!("answered {code}"),
            None if error.is_timeout() => "did not answer in time".into(),
            None if error.is_tls() => "can't be reached: no secure connection to it".into(),
            None => "can't be reached".into(),
        },
        SendError::Silent(seconds) => format!("did not answer within {seconds} s"),
        SendError::File { .. } => "is a directory of files, and it can't be written to".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said() {
        let check = |fault: Fault, expected: &str| {
            let said = NotifyError::Call { host: "hooks.test".into(), fault }.to_string();
            assert_eq!(said, expected);
        };
        check(Fault::Silent(10), "hooks.test did not answer within 10 s");
        check(Fault::Untrusted, "hooks.test can't be called: its certificate is not trusted");
        check(
            Fault::Forbidden(Forbidden::Private),
            "hooks.test can't be called: its address is private, and those are called only where \
             the operator has set [outbound] allow_private_addresses = true",
        );
        check(Fault::Redirect(302), "hooks.test answered 302, and redirects are not followed");
        check(Fault::Status { status: 500, retry_after: None }, "hooks.test answered 500");
        check(Fault::NoAnswer, "hooks.test broke off, or gave no answer in HTTP");
    }

    #[test]
    fn a_cause_is_found_behind_an_error_of_input_and_output() {
        let deep = io::Error::other(io::Error::other(Forbidden::Scheme));
        assert_eq!(cause::<Forbidden>(&deep), Some(&Forbidden::Scheme));
        assert_eq!(cause::<Forbidden>(&io::Error::other("x")), None);
    }
}
