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

/// Kafka's numbers; they are part of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(i8)]
pub enum Operation {
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

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(i8)]
pub enum ResourceType {
    Topic = 2,
    Group = 3,
    Cluster = 4,
    TransactionalId = 5,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(i8)]
pub enum PatternType {
    /// The name itself; `*` is every name.
    Literal = 3,
    Prefixed = 4,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(i8)]
pub enum Permission {
    /// Wins over every [`Permission::Allow`].
    Deny = 2,
    Allow = 3,
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

/// The kind that has this number, if it is one of ours.
fn known<T: Copy + Numbered>(all: &[T], number: i8) -> Option<T> {
    all.iter().copied().find(|kind| kind.number() == number)
}

trait Numbered {
    fn number(self) -> i8;
}

macro_rules! numbered {
    ($($kind:ident: $($name:ident),*;)*) => {
        $(impl $kind {
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }

        impl Numbered for $kind {
            fn number(self) -> i8 {
                self as i8
            }
        })*
    };
}

numbered! {
    Operation: All, Read, Write, Create, Delete, Alter, Describe, ClusterAction, DescribeConfigs,
        AlterConfigs, IdempotentWrite, CreateTokens, DescribeTokens;
    ResourceType: Topic, Group, Cluster, TransactionalId;
    PatternType: Literal, Prefixed;
    Permission: Deny, Allow;
}
