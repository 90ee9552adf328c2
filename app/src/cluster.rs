//! The state of the cluster as a whole.

use crate::InstanceAccess;

/// Both flags are computed from intent, so there is no moment in between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    pub name: String,
    /// False while the cluster is being created, stopped, or started again.
    pub ready: bool,
    /// False while servers follow a change.
    pub configured: bool,
}

pub fn status(access: &InstanceAccess) -> Status {
    Status {
        name: access.instance.name.to_string(),
        ready: access.instance.ready(),
        configured: access.instance.configured(),
    }
}
