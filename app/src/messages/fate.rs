//! What became of each message that was to be sent, and what the caller hears of it.

use crate::{Error, FieldProblem, Result};
use kafka::client::messages::Producer;
use kafka::client::{Error as KafkaError, Remedy};

/// What is known of one message.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Fate {
    /// To be sent.
    New,
    /// On its way; if nothing more is heard of it, nobody knows.
    Sent,
    Written(i32, i64),
    /// With the way to send it again, if there is one.
    Perhaps(KafkaError, Option<Again>),
    Not(KafkaError),
    /// There is no such topic or partition any more.
    Gone,
}

/// Whose it is and where it was sent: there it may be sent again and is written once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Again {
    pub producer: Producer,
    pub partition: i32,
}

impl Fate {
    /// Why it is not known to be written, if that is a matter of moments and it may be
    /// sent again.
    pub fn passing(&self) -> Option<&KafkaError> {
        match self {
            Self::Not(error) | Self::Perhaps(error, Some(_)) if error.remedy() == Remedy::Retry => {
                Some(error)
            }
            _ => None,
        }
    }

    pub fn again(&self) -> Option<Again> {
        match self {
            Self::Perhaps(_, again) => *again,
            _ => None,
        }
    }

    pub fn may_be_sent(&self) -> bool {
        *self == Self::New || self.passing().is_some()
    }

    fn is_unsure(&self) -> bool {
        matches!(self, Self::Sent | Self::Perhaps(..))
    }

    fn place(&self) -> Option<(i32, i64)> {
        match self {
            Self::Written(partition, offset) => Some((*partition, *offset)),
            _ => None,
        }
    }

    fn reason(&self) -> String {
        match self {
            Self::Perhaps(error, _) | Self::Not(error) => error.to_string(),
            Self::Gone => "the topic was deleted meanwhile".to_owned(),
            Self::New | Self::Sent | Self::Written(..) => "no answer came in time".to_owned(),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Written(partition, offset) => {
                format!("written to partition {partition} at offset {offset}")
            }
            Self::Sent | Self::Perhaps(..) => {
                format!("may or may not have been written: {}", self.reason())
            }
            Self::New | Self::Not(_) | Self::Gone => format!("not written: {}", self.reason()),
        }
    }
}

/// Where all of them are, or what became of each.
pub(super) fn outcome(asked: Result<()>, fates: &[Fate]) -> Result<Vec<(i32, i64)>> {
    let places: Option<Vec<(i32, i64)>> = fates.iter().map(Fate::place).collect();
    if let Some(places) = places {
        return Ok(places);
    }
    let written = fates.iter().filter(|fate| fate.place().is_some()).count();
    let perhaps = fates.iter().filter(|fate| fate.is_unsure()).count();
    if written + perhaps == 0 {
        // Nothing happened, so that there is nothing to tell apart.
        asked?;
        if fates.iter().all(|fate| *fate == Fate::Gone) {
            return Err(Error::NotFound);
        }
    }
    if let [only] = fates {
        return Err(Error::Unknown(format!(
            "The message may or may not have been written: {}; look for it before you write it \
             again",
            only.reason()
        )));
    }
    let not = fates.len() - written - perhaps;
    let reason = fates.iter().find(|fate| fate.place().is_none()).map(Fate::reason);
    let summary = format!(
        "Of {} messages {written} were written, {perhaps} may or may not have been written, and \
         {not} were not: {}; `errors` tells what became of each",
        fates.len(),
        reason.unwrap_or_default()
    );
    let piece = |(number, fate): (usize, &Fate)| FieldProblem {
        field: format!("messages[{number}]"),
        what: fate.sentence(),
    };
    Err(Error::Partly { summary, pieces: fates.iter().enumerate().map(piece).collect() })
}
