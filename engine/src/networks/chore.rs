//! One thing to do for one network or one server. Doing it twice does no harm.

use crate::Engine;
use model::Vpc;
use std::fmt;
use store::FirewallTurn;

#[derive(Clone, Debug)]
pub(super) enum Chore {
    Removal(Vpc),
    Firewall(FirewallTurn),
}

impl Chore {
    /// Whether it is done. What fails is tried again at the next look.
    pub(super) async fn carry_out(&self, engine: &Engine) -> bool {
        match self {
            Chore::Removal(vpc) => engine.remove_network(vpc).await,
            Chore::Firewall(turn) => engine.apply_firewall(turn).await,
        }
    }

    /// Whether both are of the same network or server, so that one has to wait.
    pub(super) fn is_of_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Chore::Removal(one), Chore::Removal(two)) => one.id == two.id,
            (Chore::Firewall(one), Chore::Firewall(two)) => one.server_id == two.server_id,
            _ => false,
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
