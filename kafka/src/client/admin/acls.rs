//! Who may do what: one rule, and the calls that add, read and remove rules.

mod add;
mod describe;
mod remove;

pub use add::AddAcls;
pub use describe::DescribeAcls;
pub use remove::{RemoveAcl, RemoveAcls};

use std::fmt;

/// In filters: whatever it is.
const ANY: i8 = 1;
const EVERY_HOST: &str = "*";

macro_rules! numbered {
    ($($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $name:ident = $number:literal,)* })*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(i8)]
        pub enum $kind {
            $($(#[$doc])* $name = $number,)*
        }

        impl $kind {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The kind that has this number, if it is one of ours.
            fn numbered(number: i8) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| *kind as i8 == number)
            }
        }
    )*};
}

// Kafka's numbers; they are part of the protocol.
numbered! {
    Operation {
        All = 2,
        Read = 3,
        Write = 4,
        Create = 5,
        Delete = 6,
        Alter = 7,
        Describe = 8,
        ClusterAction = 9,
        DescribeConfigs = 10,
        AlterConfigs = 11,
        IdempotentWrite = 12,
        CreateTokens = 13,
        DescribeTokens = 14,
    }
    ResourceType {
        Topic = 2,
        Group = 3,
        Cluster = 4,
        TransactionalId = 5,
    }
    PatternType {
        /// The name itself; `*` is every name.
        Literal = 3,
        Prefixed = 4,
    }
    Permission {
        /// Wins over every [`Permission::Allow`].
        Deny = 2,
        Allow = 3,
    }
}

/// A permission or its refusal, from every host.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Acl {
    pub resource_type: ResourceType,
    /// A name, a prefix or `*`; `kafka-cluster` for the cluster.
    pub pattern: String,
    pub pattern_type: PatternType,
    /// `User:` and the name.
    pub principal: String,
    pub operation: Operation,
    pub permission: Permission,
}

impl fmt::Display for Acl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource_type, pattern, pattern_type, principal, operation, permission } = self;
        write!(
            f,
            "{principal}: {permission:?} {operation:?} on {resource_type:?} {pattern} ({pattern_type:?})"
        )
    }
}
