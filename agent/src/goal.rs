//! What the supervisor is to achieve, made from the desired state.

use std::sync::Arc;
use wire::agent::{Desired, DesiredBroker, Run};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Something is not known or there yet. A broker that runs goes on.
    Wait(String),
    Stopped,
    Running(Arc<Orders>),
}

/// Everything a start needs, and nothing else: a change of anything else must
/// not interrupt one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Orders {
    pub desired: Desired,
    pub broker: DesiredBroker,
}

impl Goal {
    /// `missing` are the certificates that the broker can't start without.
    pub fn from_desired(desired: &Desired, missing: &[String]) -> Self {
        if desired.run == Run::Stopped {
            return Goal::Stopped;
        }
        let Some(broker) = &desired.broker else {
            return Goal::Wait("waiting for the broker's configuration".into());
        };
        if !missing.is_empty() {
            return Goal::Wait(format!("waiting for the certificate {}", missing.join(" and ")));
        }
        let orders = Desired {
            revision: 0,
            store_epoch: 0,
            incarnation: 0,
            certificates: Vec::new(),
            trust: <_>::default(),
            revoked: Vec::new(),
            ..desired.clone()
        };
        Goal::Running(Arc::new(Orders { desired: orders, broker: broker.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::desired;

    #[test]
    fn a_new_revision_alone_is_no_new_goal() {
        let goal = Goal::from_desired(&desired(), &[]);
        assert_eq!(goal, Goal::from_desired(&Desired { revision: 9, ..desired() }, &[]));
        // The agent got a new identity; its broker has no part in that.
        assert_eq!(goal, Goal::from_desired(&Desired { incarnation: 2, ..desired() }, &[]));
        let revoked = Desired { revoked: vec!["4f".into()], ..desired() };
        assert_eq!(goal, Goal::from_desired(&revoked, &[]));
        let mut other = desired();
        other.disk.format = None;
        assert_ne!(goal, Goal::from_desired(&other, &[]));
        let stopped = Desired { run: Run::Stopped, ..desired() };
        assert_eq!(Goal::from_desired(&stopped, &["internal".into()]), Goal::Stopped);
        let waiting = Goal::from_desired(&desired(), &["internal".into(), "server".into()]);
        let words = "waiting for the certificate internal and server";
        assert_eq!(waiting, Goal::Wait(words.into()));
    }
}
