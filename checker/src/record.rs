//! What is written: text that says which run, which client and which number, so
//! that a record is known wherever it turns up.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a value of ours begins.
const FIRST_WORD: &str = "castellan-check";
const CLOSING: &str = "closing";

/// One record of a run: each client numbers its own, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RecordId {
    pub client: usize,
    pub number: u64,
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {} of client {}", self.number, self.client)
    }
}

/// What a value is to a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Text {
    Record(RecordId),
    /// Written to every partition after everything else: whoever has read it
    /// has read all.
    Closing,
    /// Not of this run.
    Stranger,
}

/// The value of a record, made as long as asked for.
pub fn value(run: &str, id: RecordId, bytes: usize) -> String {
    let mut text = format!("{FIRST_WORD} {run} {} {} ", id.client, id.number);
    while text.len() < bytes {
        text.push('.');
    }
    text
}

pub fn closing(run: &str) -> String {
    format!("{FIRST_WORD} {run} {CLOSING}")
}

/// Reads what [`value`] and [`closing`] write.
pub fn read(run: &str, value: &[u8]) -> Text {
    let parse = || {
        let mut words = str::from_utf8(value).ok()?.split(' ');
        if (words.next()?, words.next()?) != (FIRST_WORD, run) {
            return None;
        }
        match words.next()? {
            CLOSING => Some(Text::Closing),
            client => Some(Text::Record(RecordId {
                client: client.parse().ok()?,
                number: words.next()?.parse().ok()?,
            })),
        }
    };
    parse().unwrap_or(Text::Stranger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let id = RecordId { client: 3, number: 41 };
        for bytes in [0, 100] {
            let value = value("r1", id, bytes);
            assert!(value.len() >= bytes, "{value}");
            assert_eq!(read("r1", value.as_bytes()), Text::Record(id));
            assert_eq!(read("r2", value.as_bytes()), Text::Stranger);
        }
        assert_eq!(read("r1", closing("r1").as_bytes()), Text::Closing);
        for value in ["", "castellan-check r1", "castellan-check r1 x 1", "hello r1 1 1"] {
            assert_eq!(read("r1", value.as_bytes()), Text::Stranger, "{value}");
        }
    }
}
