//! What went wrong with a call. Customers read these sentences, so they hold nothing that a
//! destination answered.

use crate::destinations::Forbidden;
use std::error::Error;
use std::io;
use std::time::Duration;

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
    Unresponsive(u64),
    #[error("broke off, or gave no answer in HTTP")]
    NoAnswer,
    #[error("broke off the connection")]
    BrokeOff,
    #[error("can't be reached through the operator's proxy, which is [outbound] proxy")]
    NotPassedOn,
    #[error("answered {0}, and redirects are not followed")]
    Redirect(u16),
    #[error("answered {status}")]
    Status { status: u16, retry_after: Option<Duration> },
}

impl Fault {
    pub(crate) fn from_call(error: &reqwest::Error) -> Self {
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

impl Fault {
    pub(crate) fn from_connect_error(error: &io::Error) -> Self {
        cause::<Forbidden>(error).map_or(Self::Unreachable, |it| Self::Forbidden(*it))
    }

    pub(crate) fn from_handshake_error(error: &io::Error) -> Self {
        match cause::<rustls::Error>(error) {
            Some(rustls::Error::InvalidCertificate(_)) => Self::Untrusted,
            Some(_) => Self::NoTls,
            None => Self::Unreachable,
        }
    }

    /// Of a connection that there was: it may be closed because of a certificate of ours that
    /// is missing, and then TLS says so only now.
    pub fn from_transfer_error(error: &io::Error) -> Self {
        if cause::<rustls::Error>(error).is_some() { Self::NoTls } else { Self::BrokeOff }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_found_behind_an_error_of_input_and_output() {
        let deep = io::Error::other(io::Error::other(Forbidden::Scheme));
        assert_eq!(cause::<Forbidden>(&deep), Some(&Forbidden::Scheme));
        assert_eq!(cause::<Forbidden>(&io::Error::other("x")), None);
    }
}
