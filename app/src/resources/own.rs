//! Whose a name is: on shared plans a customer has those with its prefix, and
//! sees no others.

use crate::access::on_servers_of_its_own;
use crate::{App, InstanceAccess};

/// Names that are Kafka's own, which no customer touches.
const INTERNAL: &str = "__";

pub(crate) fn is_own(access: &InstanceAccess, app: &App, name: &str) -> bool {
    if name.is_empty() || name.starts_with(INTERNAL) {
        return false;
    }
    let rest = name.strip_prefix(access.instance.username.as_str());
    on_servers_of_its_own(app, &access.instance).is_ok()
        || rest.is_some_and(|rest| rest.starts_with(['-', '.']))
}
