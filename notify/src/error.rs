//! Why a notification could not be sent now. Customers read these sentences, so they
//! hold nothing that a destination answered and no part of an address but its
//! host: paths, queries and headers are secrets.

use crate::SendError;
use egress::Fault;
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
    use egress::Forbidden;

    #[test]
    fn what_is_said() {
        let check = |fault: Fault, expected: &str| {
            let said = NotifyError::Call { host: "hooks.test".into(), fault }.to_string();
            assert_eq!(said, expected);
        };
        check(Fault::Unresponsive(10), "hooks.test did not answer within 10 s");
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
}
