//! The operator, who works on the store itself.

use crate::audit::{Actor, OPERATOR};
use crate::{Source, SourceKind};
use model::AccountId;

/// Stands as the caller of use cases that no customer has. Whoever can open the
/// store is the operator, so making one is for commands that have opened it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operator {
    source: Source,
}

impl Operator {
    pub fn of_opened_store() -> Self {
        Self { source: Source { kind: SourceKind::Cli, address: None } }
    }

    pub(crate) fn acting_on(self, account_id: AccountId) -> Actor<'static> {
        Actor { account_id, source: self.source, user: OPERATOR }
    }
}
