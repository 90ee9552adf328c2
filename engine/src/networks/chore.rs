//! One thing to do for one network or one server. Doing it twice does no harm.

use crate::Engine;
use model::{ServerId, Vpc, VpcId};
use std::fmt;
use store::FirewallTurn;

#[derive(Clone, Debug)]
pub(super) enum Chore {
    Removal(Vpc),
    Firewall(FirewallTurn),
}

/// What a chore is for. Of the chores of one subject one goes on at a time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Subject {
    Network(VpcId),
    Server(ServerId),
}

/// Chores that wait for places together. Those of one class take none from another, so that
/// stuck removals hold up no rules, and what fails again and again holds up nothing new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Removal,
    Firewall,
    /// Of either kind, after it failed.
    Retry,
}

impl Class {
    /// How many go on at a time.
    pub(super) const fn places(self) -> usize {
        match self {
            Class::Removal => 4,
            Class::Firewall => 16,
            Class::Retry => 8,
        }
    }
}

impl Chore {
    /// Whether it is done. If not, it is to be tried again.
    pub(super) async fn carry_out(&self, engine: &Engine) -> bool {
        match self {
            Chore::Removal(vpc) => engine.remove_network(vpc).await,
            Chore::Firewall(turn) => engine.apply_firewall(turn).await,
        }
    }

    pub(super) fn class(&self, has_failed: bool) -> Class {
        match self {
            _ if has_failed => Class::Retry,
            Chore::Removal(_) => Class::Removal,
            Chore::Firewall(_) => Class::Firewall,
        }
    }

    pub(super) fn subject(&self) -> Subject {
        match self {
            Chore::Removal(vpc) => Subject::Network(vpc.id),
            Chore::Firewall(turn) => Subject::Server(turn.server_id),
        }
    }
}

impl fmt::Display for Chore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Chore::Removal(vpc) => write!(f, "removal of network {}", vpc.id),
            Chore::Firewall(turn) => write!(f, "firewall of server {}", turn.server_id),
        }
    }
}
