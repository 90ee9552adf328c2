//! Where a reset would have a group go on; pure.

use crate::client::{At, TopicPartition};
use std::collections::BTreeMap;

/// Where to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResetTo {
    Earliest,
    Latest,
    /// The first message of that time or later, in milliseconds since 1970.
    Time(i64),
    /// So many messages further, or back.
    Shift(i64),
}

impl ResetTo {
    /// The places in the logs that must be known for it.
    pub fn needs(self) -> Vec<At> {
        match self {
            ResetTo::Earliest => vec![At::Earliest],
            ResetTo::Latest => vec![At::Latest],
            ResetTo::Time(at) => vec![At::Time(at), At::Latest],
            ResetTo::Shift(_) => vec![At::Earliest, At::Latest],
        }
    }
}

/// One partition, before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    pub at: TopicPartition,
    pub from: Option<i64>,
    pub to: i64,
}

/// Why a partition can't be reset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotMoved {
    /// It is not there, or nobody leads it now.
    NoLeader(TopicPartition),
    /// There is nothing to shift from.
    NothingCommitted(TopicPartition),
}

/// What was found of each place.
type Found = BTreeMap<TopicPartition, Option<i64>>;

/// Where every one of the partitions goes on, or the first that can't.
/// `found` is in the order of [`ResetTo::needs`].
pub fn plan(
    to: ResetTo,
    partitions: &BTreeMap<TopicPartition, Option<i64>>,
    found: &[Found],
) -> Result<Vec<Moved>, NotMoved> {
    let one = |(at, from): (&TopicPartition, &Option<i64>)| {
        let place = |number: usize| {
            let found = found.get(number).and_then(|found| found.get(at)).copied();
            found.ok_or_else(|| NotMoved::NoLeader(at.clone()))
        };
        let known = |number: usize| place(number)?.ok_or_else(|| NotMoved::NoLeader(at.clone()));
        let to = match to {
            ResetTo::Earliest | ResetTo::Latest => known(0)?,
            // Nothing is that late, so whatever comes next is.
            ResetTo::Time(_) => place(0)?.map_or_else(|| known(1), Ok)?,
            ResetTo::Shift(by) => {
                let from = from.ok_or_else(|| NotMoved::NothingCommitted(at.clone()))?;
                let (start, end) = (known(0)?, known(1)?);
                from.saturating_add(by).min(end).max(start)
            }
        };
        Ok(Moved { at: at.clone(), from: *from, to })
    };
    partitions.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> TopicPartition {
        TopicPartition::new("orders", 0)
    }

    /// A log from 10 to 100, and a group at `from`.
    fn check(to: ResetTo, from: Option<i64>, time: Option<i64>, expected: &Result<i64, NotMoved>) {
        let found = to.needs().into_iter().map(|place| {
            let offset = match place {
                At::Earliest => Some(10),
                At::Latest | At::LatestStable => Some(100),
                At::Time(_) => time,
            };
            BTreeMap::from([(at(), offset)])
        });
        let found: Vec<Found> = found.collect();
        let moved = plan(to, &BTreeMap::from([(at(), from)]), &found);
        assert_eq!(&moved.map(|moved| moved[0].to), expected, "{to:?} {from:?}");
    }

    #[test]
    fn resets() {
        check(ResetTo::Earliest, Some(50), None, &Ok(10));
        check(ResetTo::Latest, Some(50), None, &Ok(100));
        check(ResetTo::Latest, None, None, &Ok(100));
        check(ResetTo::Time(7), Some(50), Some(42), &Ok(42));
        check(ResetTo::Time(7), Some(50), None, &Ok(100));
        check(ResetTo::Shift(5), Some(50), None, &Ok(55));
        check(ResetTo::Shift(-5), Some(50), None, &Ok(45));
        check(ResetTo::Shift(51), Some(50), None, &Ok(100));
        check(ResetTo::Shift(i64::MAX), Some(50), None, &Ok(100));
        check(ResetTo::Shift(i64::MIN), Some(50), None, &Ok(10));
        check(ResetTo::Shift(1), None, None, &Err(NotMoved::NothingCommitted(at())));
    }

    #[test]
    fn one_that_nobody_leads_is_named() {
        let partitions = BTreeMap::from([(at(), Some(1))]);
        for to in [ResetTo::Earliest, ResetTo::Time(0), ResetTo::Shift(1)] {
            let found = vec![Found::new(); to.needs().len()];
            assert_eq!(plan(to, &partitions, &found), Err(NotMoved::NoLeader(at())), "{to:?}");
        }
    }
}
