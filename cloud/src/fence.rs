//! Who acts on an instance, and the rule that keeps earlier owners out.
//!
//! A worker looks at its lease before every effect, and may stand still between
//! that look and the effect. The look can't help then; the cloud can: it keeps
//! the highest epoch that it has seen of each instance, and refuses everything
//! of a lower one. Every cloud keeps [`Mark`]s by this one rule.

use model::InstanceId;
use std::fmt;

/// Orders the owners of an instance. A restored store counts leases on from an
/// older number, so its own epoch comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Epoch {
    pub store: i64,
    pub lease: i64,
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.store, self.lease)
    }
}

/// On whose behalf an effect happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    pub instance_id: InstanceId,
    pub epoch: Epoch,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Make,
    Remove,
}

/// What a cloud remembers of an instance's owners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The highest seen.
    pub epoch: Epoch,
    /// The instance is gone for good: nothing is made for it any more.
    pub retired: bool,
}

/// Why an effect does not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error(
        "instance {instance} has a later owner: epoch {seen} was seen here and this is {given}; \
         if its store was restored by hand, raise store_epoch"
    )]
    Outdated { instance: InstanceId, given: Epoch, seen: Epoch },
    #[error("instance {0} is gone for good, and nothing is made for it any more")]
    Retired(InstanceId),
}

impl Refusal {
    /// What programs that read logs tell refusals apart by.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Outdated { .. } => "outdated",
            Self::Retired(_) => "retired",
        }
    }
}

impl Mark {
    /// The mark to keep from now on, if the owner may do that.
    pub fn admit(before: Option<Self>, by: &Owner, kind: Kind) -> Result<Self, Refusal> {
        let instance = by.instance_id;
        let Some(before) = before else { return Ok(Self { epoch: by.epoch, retired: false }) };
        if by.epoch < before.epoch {
            return Err(Refusal::Outdated { instance, given: by.epoch, seen: before.epoch });
        }
        // An operator may bring an instance back with an older store.
        let retired = before.retired && by.epoch.store == before.epoch.store;
        if retired && kind == Kind::Make {
            return Err(Refusal::Retired(instance));
        }
        Ok(Self { epoch: by.epoch, retired })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_epochs_are_refused_and_the_stores_comes_first() {
        let epoch = |store, lease| Epoch { store, lease };
        let check = |seen: (i64, i64), retired, given: (i64, i64), kind, expected: Option<bool>| {
            let mark = Mark { epoch: epoch(seen.0, seen.1), retired };
            let by = Owner { instance_id: InstanceId(3), epoch: epoch(given.0, given.1) };
            let kept = Mark::admit(Some(mark), &by, kind);
            let expected = expected.map(|retired| Mark { epoch: by.epoch, retired });
            assert_eq!(kept.ok(), expected, "{mark:?} {by:?} {kind:?}");
        };
        for kind in [Kind::Make, Kind::Remove] {
            check((1, 5), false, (1, 5), kind, Some(false));
            check((1, 5), false, (1, 6), kind, Some(false));
            check((1, 5), false, (1, 4), kind, None);
            check((1, 5), false, (2, 1), kind, Some(false));
            check((2, 1), false, (1, 9), kind, None);
            check((1, 5), true, (1, 4), kind, None);
            check((1, 5), true, (2, 1), kind, Some(false));
        }
        check((1, 5), true, (1, 6), Kind::Make, None);
        check((1, 5), true, (1, 6), Kind::Remove, Some(true));
    }
}
