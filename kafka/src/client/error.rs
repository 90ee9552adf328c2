//! What can go wrong between us and a broker.
//!
//! Every message is a sentence that names the broker and carries Kafka's own
//! reason. No variant ever holds a password or a key.

use super::{Endpoint, Mechanism, TopicPartition};
use crate::naming::{NAMED, first_of};
use kafka_protocol::ResponseError;
use kafka_protocol::protocol::{StrBytes, VersionRange};
use std::time::Duration;

/// What a caller does about an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// The same call may succeed later: all our calls are safe to repeat.
    Retry,
    /// It won't until somebody changes the request, a password, an ACL or a
    /// certificate.
    Refused,
}

#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Error {
    #[error("{endpoint} {reason}")]
    Unreachable { endpoint: Endpoint, reason: String },
    #[error("the TLS handshake with {endpoint} failed: {reason}")]
    Tls { endpoint: Endpoint, reason: String },
    #[error("{what} can't be used: {reason}")]
    BadPem { what: &'static str, reason: String },
    /// The connection ended before the answer came; the call may have had its
    /// effect.
    #[error("{endpoint} {reason} during {call}")]
    Broken { endpoint: Endpoint, call: String, reason: String },
    /// No answer in time; the call may have had its effect.
    #[error("{endpoint} did not answer {call} within {after:?}")]
    Deadline { endpoint: Endpoint, call: String, after: Duration },
    #[error("{endpoint} sent an answer to {call} that can't be read: {reason}")]
    Malformed { endpoint: Endpoint, call: String, reason: String },
    #[error("{endpoint} announced an answer to {call} of {size} bytes; the limit is {limit}")]
    Oversize { endpoint: Endpoint, call: String, size: i64, limit: usize },
    #[error("{endpoint} speaks {call} in versions {}, we speak {ours}", spoken(.theirs.as_ref()))]
    Unsupported {
        endpoint: Endpoint,
        call: String,
        ours: VersionRange,
        theirs: Option<VersionRange>,
    },
    /// A fault of ours: the request holds what the negotiated version lacks.
    #[error("{call} version {version} can't be written: {reason}")]
    Unencodable { call: String, version: i16, reason: String },
    #[error("{endpoint} does not offer {mechanism}; it offers {}", offered.join(", "))]
    MechanismNotOffered { endpoint: Endpoint, mechanism: Mechanism, offered: Vec<String> },
    /// Kafka answers the same for a wrong password and an unknown user.
    #[error("{endpoint} refused the password of {username}: {reason}")]
    WrongPassword { endpoint: Endpoint, username: String, reason: String },
    /// The broker took our proof but could not give its own.
    #[error("{endpoint} did not prove that it knows the password of {username}: {reason}")]
    Unproven { endpoint: Endpoint, username: String, reason: String },
    #[error("Kafka refused {call} for {subject}: {code}{}", detail(.message))]
    Kafka { call: &'static str, subject: String, code: ResponseError, message: String },
    /// Kafka confirmed the write, but the broker we asked has not read it from the metadata
    /// log. Nothing is to be written again; see [`made`].
    #[error("{endpoint} does not show {what} yet, {after:?} after it was written")]
    NotReadableYet { endpoint: Endpoint, what: String, after: Duration },
    /// The broker's view is older than what the controller decided by, so that nothing can be
    /// concluded from it.
    #[error("{endpoint} has not read {what} from the metadata log yet")]
    Stale { endpoint: Endpoint, what: String },
    /// Whoever leads them is away, or they are not there.
    #[error("no server that answers leads {partitions} now")]
    Leaderless { partitions: String, count: usize },
    #[error("there is no broker to ask")]
    NoBrokers,
    #[error("none of {asked} brokers answered; the last error: {last}")]
    AllFailed { asked: usize, last: Box<Error> },
    /// Others answered, and what they told would look as if it were all.
    #[error("{what} would be incomplete: {last}")]
    Incomplete { what: String, last: Box<Error> },
}

impl Error {
    /// Nobody leads a partition now, or it is not there: an error that passes.
    pub fn no_leader(at: &TopicPartition) -> Self {
        Self::no_leaders(&[at])
    }

    /// The same of several.
    pub fn no_leaders(all: &[&TopicPartition]) -> Self {
        Self::Leaderless { partitions: named(all), count: all.len() }
    }

    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Unreachable { .. }
            | Self::Broken { .. }
            | Self::Deadline { .. }
            | Self::Leaderless { .. }
            | Self::Stale { .. }
            | Self::NotReadableYet { .. } => Remedy::Retry,
            Self::Kafka { code, .. } if passes(*code) => Remedy::Retry,
            Self::AllFailed { last, .. } | Self::Incomplete { last, .. } => last.remedy(),
            _ => Remedy::Refused,
        }
    }

    /// Whether too few brokers are there at the moment. Who asks for no more copies than
    /// there are servers may ask again.
    pub fn lacks_brokers(&self) -> bool {
        matches!(self, Self::Kafka { code: ResponseError::InvalidReplicationFactor, .. })
    }

    /// Whether there is no such topic or partition: it may have been deleted in the meantime.
    pub fn is_unknown_topic(&self) -> bool {
        matches!(self, Self::Kafka { code: ResponseError::UnknownTopicOrPartition, .. })
    }

    /// Kafka's own word, if it is one: somebody did answer, though the answer is no.
    pub fn answer(&self) -> Option<&Self> {
        match self {
            // It stands for silence where calls have no code of their own for that.
            Self::Kafka { code: ResponseError::BrokerNotAvailable, .. } => None,
            Self::Kafka { .. } => Some(self),
            Self::AllFailed { last, .. } => last.answer(),
            _ => None,
        }
    }

    /// What can't be written to, because fewer of its replicas are in sync than its
    /// `min.insync.replicas` asks for.
    pub fn lacks_in_sync(&self) -> Option<&str> {
        match self {
            Self::Kafka { code: ResponseError::NotEnoughReplicas, subject, .. } => Some(subject),
            Self::AllFailed { last, .. } => last.lacks_in_sync(),
            _ => None,
        }
    }

    /// Whether the broker may have done what was asked all the same.
    pub fn may_have_done_it(&self) -> bool {
        match self {
            Self::Broken { .. }
            | Self::Deadline { .. }
            | Self::Malformed { .. }
            | Self::Oversize { .. }
            | Self::NotReadableYet { .. } => true,
            Self::Kafka { code, .. } => *code == ResponseError::RequestTimedOut,
            Self::AllFailed { last, .. } => last.may_have_done_it(),
            _ => false,
        }
    }

    /// Whether the broker said nothing at all.
    pub(crate) fn is_silence(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Deadline { .. })
    }

    /// Whether the next broker may give a better answer. A definite no of the
    /// cluster is the same everywhere; a broker with a bad certificate or an
    /// older release is that broker's matter alone.
    pub(crate) fn is_about_one_broker(&self) -> bool {
        match self {
            Self::Tls { .. }
            | Self::Malformed { .. }
            | Self::Oversize { .. }
            | Self::Unsupported { .. }
            | Self::MechanismNotOffered { .. }
            | Self::Unproven { .. } => true,
            // Kafka has confirmed it: no other broker is to do it once more.
            Self::NotReadableYet { .. } => false,
            other => other.remedy() == Remedy::Retry,
        }
    }
}

/// The answer to a write; none if Kafka confirmed the write and the broker that took it does
/// not show it yet.
pub fn made<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Err(Error::NotReadableYet { .. }) => Ok(None),
        answer => answer.map(Some),
    }
}

/// Kafka's own judgement, and two codes of a controller that is just moving or
/// starting, which Kafka's clients never see and so calls final.
fn passes(code: ResponseError) -> bool {
    code.is_retriable()
        || matches!(code, ResponseError::StaleControllerEpoch | ResponseError::BrokerNotAvailable)
}

/// Turns an error code of an answer into an error, if it is one.
pub(super) fn check(
    call: &'static str,
    subject: &str,
    code: i16,
    message: Option<&StrBytes>,
) -> Result<(), Error> {
    match ResponseError::try_from_code(code) {
        None => Ok(()),
        Some(code) => Err(Error::Kafka {
            call,
            subject: subject.to_owned(),
            code,
            message: message.map(ToString::to_string).unwrap_or_default(),
        }),
    }
}

/// These by name, or the first of them.
pub(crate) fn named(all: &[&TopicPartition]) -> String {
    let names: Vec<String> = all.iter().map(ToString::to_string).collect();
    first_of(&names, NAMED, ", ")
}

fn detail(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message})") }
}

fn spoken(range: Option<&VersionRange>) -> String {
    range.map_or_else(|| "none".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests;
