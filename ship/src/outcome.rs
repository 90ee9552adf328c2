//! What became of what was to be sent. Customers read these sentences, so they hold nothing
//! that a destination answered, and of its address the host alone: paths hold tokens.

use egress::Fault;
use std::fmt;
use std::time::Duration;

/// What became of events or points that were given to be sent, in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// So many of the first need not be sent again.
    pub done: usize,
    /// So many of those were refused for ever: too old, too big, or nothing that the
    /// destination takes.
    pub dropped: usize,
    /// Why the others are not done. None: there are no others.
    pub trouble: Option<Trouble>,
}

/// Why events or points can't be delivered. It prints as a sentence without a full stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    pub verdict: Verdict,
    sentence: String,
}

/// When it is worth another attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Soon, but not before the destination wants to be called again.
    Retry { after: Option<Duration> },
    /// Not until a person changes something, such as a key.
    Refused,
}

impl Trouble {
    pub fn refused(sentence: impl Into<String>) -> Self {
        Self { verdict: Verdict::Refused, sentence: sentence.into() }
    }

    pub fn retry(after: Option<Duration>, sentence: impl Into<String>) -> Self {
        Self { verdict: Verdict::Retry { after }, sentence: sentence.into() }
    }

    /// `who` needs other settings: `this system needs`.
    pub(crate) fn unfit(who: &str) -> Self {
        Self::refused(format!("the settings are not those that {who}; save them again"))
    }

    /// There was no answer that could be read.
    pub(crate) fn from_fault(place: &str, fault: &Fault) -> Self {
        let sentence = format!("{place} {fault}");
        match fault {
            Fault::Forbidden(_) | Fault::Redirect(_) => Self::refused(sentence),
            Fault::Status { retry_after, .. } => Self::retry(*retry_after, sentence),
            _ => Self::retry(None, sentence),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Trouble {}
