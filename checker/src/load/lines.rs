//! What the Java client says: one event a line, words with a space between,
//! and an error as the rest of its line.

use crate::{Event, RecordId};

/// None if it is no event.
pub fn parse(line: &str) -> Option<Event> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    let mut number = || words.next()?.parse::<u64>().ok();
    let client = usize::try_from(number()?).ok()?;
    match kind {
        "sent" => {
            let id = RecordId { client, number: number()? };
            let partition = i32::try_from(number()?).ok()?;
            let at = number()?;
            Some(Event::Sent { id, partition, transaction: number(), at })
        }
        "acked" => {
            let id = RecordId { client, number: number()? };
            let at = number()?;
            let offset = number().and_then(|offset| i64::try_from(offset).ok());
            Some(Event::Acked { id, offset, at })
        }
        "failed" => {
            let (id, at) = (RecordId { client, number: number()? }, number()?);
            Some(Event::Failed { id, at, error: rest(words) })
        }
        "committed" => Some(Event::Committed { client, transaction: number()?, at: number()? }),
        "aborted" => Some(Event::Aborted { client, transaction: number()?, at: number()? }),
        "unsure" => {
            let (transaction, at) = (number()?, number()?);
            Some(Event::Unsure { client, transaction, at, error: rest(words) })
        }
        "trouble" => {
            let at = number()?;
            Some(Event::Trouble { who: format!("client {client}"), at, error: rest(words) })
        }
        _ => None,
    }
}

fn rest<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_an_event() {
        let id = RecordId { client: 2, number: 17 };
        let check =
            |line: &str, expected: Option<Event>| assert_eq!(parse(line), expected, "{line}");
        check(
            "sent 2 17 5 900 3",
            Some(Event::Sent { id, partition: 5, transaction: Some(3), at: 900 }),
        );
        check(
            "sent 2 17 5 900",
            Some(Event::Sent { id, partition: 5, transaction: None, at: 900 }),
        );
        check("acked 2 17 950 41", Some(Event::Acked { id, offset: Some(41), at: 950 }));
        check("acked 2 17 950 -1", Some(Event::Acked { id, offset: None, at: 950 }));
        let error = "it timed out".to_owned();
        check("failed 2 17 950 it timed out", Some(Event::Failed { id, at: 950, error }));
        check("committed 2 3 99", Some(Event::Committed { client: 2, transaction: 3, at: 99 }));
        check("aborted 2 3 99", Some(Event::Aborted { client: 2, transaction: 3, at: 99 }));
        let error = "fenced".to_owned();
        check(
            "unsure 2 3 99 fenced",
            Some(Event::Unsure { client: 2, transaction: 3, at: 99, error }),
        );
        check(
            "trouble 2 99 x",
            Some(Event::Trouble { who: "client 2".into(), at: 99, error: "x".into() }),
        );
        for nonsense in ["", "ready", "sent", "sent a b", "acked 2 17"] {
            check(nonsense, None);
        }
    }
}
