//! Which partition each message goes to; pure.

use super::NewMessage;
use super::partitioner::of_key;
use std::collections::BTreeMap;

/// Why a message has no place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotPlaced {
    /// The topic has no partition of that number.
    Unknown(i32),
    /// Nobody leads any of the partitions it could go to.
    NoLeader,
}

/// The partition of each message: the one it names, the one of its key, or the
/// next of those that somebody leads, beginning with `turn`.
pub fn place(
    messages: &[NewMessage],
    partitions: &BTreeMap<i32, Option<i32>>,
    turn: usize,
) -> Result<Vec<i32>, NotPlaced> {
    let led: Vec<i32> =
        partitions.iter().filter(|(_, leader)| leader.is_some()).map(|(id, _)| *id).collect();
    let mut next = turn;
    let one = |message: &NewMessage| {
        if let Some(named) = message.partition {
            let there = partitions.contains_key(&named);
            return there.then_some(named).ok_or(NotPlaced::Unknown(named));
        }
        if let Some(key) = &message.key {
            let number = of_key(key, partitions.len());
            return partitions.keys().nth(number).copied().ok_or(NotPlaced::NoLeader);
        }
        if led.is_empty() {
            return Err(NotPlaced::NoLeader);
        }
        let chosen = led[next % led.len()];
        next = next.wrapping_add(1);
        Ok(chosen)
    };
    messages.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn check(
        messages: &[(Option<&'static str>, Option<i32>)],
        leaders: &[Option<i32>],
        expected: Result<&[i32], &NotPlaced>,
    ) {
        let message = |(key, partition): &(Option<&'static str>, Option<i32>)| NewMessage {
            key: key.map(Bytes::from),
            partition: *partition,
            ..NewMessage::default()
        };
        let messages: Vec<_> = messages.iter().map(message).collect();
        let partitions: BTreeMap<i32, Option<i32>> = (0..).zip(leaders.iter().copied()).collect();
        let placed = place(&messages, &partitions, 1);
        assert_eq!(placed.as_ref().map(Vec::as_slice), expected);
    }

    #[test]
    fn places() {
        let (led, none) = (Some(1), None);
        check(&[(None, Some(2))], &[led, led, led], Ok(&[2]));
        check(&[(Some("k"), Some(2))], &[led, led, led], Ok(&[2]));
        check(&[(None, Some(3))], &[led, led, led], Err(&NotPlaced::Unknown(3)));
        check(&[(None, Some(-1))], &[led], Err(&NotPlaced::Unknown(-1)));
        // In turn, past the one that nobody leads.
        check(&[(None, None); 4], &[led, none, led], Ok(&[2, 0, 2, 0]));
        check(&[(None, None)], &[none], Err(&NotPlaced::NoLeader));
        // A key's partition stays its own, also while nobody leads it.
        let with_leaders = of_key(b"21", 3);
        let expected = i32::try_from(with_leaders).unwrap();
        check(&[(Some("21"), None)], &[led, led, led], Ok(&[expected]));
        check(&[(Some("21"), None)], &[none, none, none], Ok(&[expected]));
    }
}
