//! Whose a name is: on shared plans a customer has those with its prefix, and
//! sees no others.

use crate::access::on_servers_of_its_own;
use crate::{App, InstanceAccess};

/// How the names of topics begin that are Kafka's own, which no customer touches.
const INTERNAL: &str = "__";

/// Of a topic.
pub(crate) fn is_own(access: &InstanceAccess, app: &App, topic: &str) -> bool {
    !topic.starts_with(INTERNAL) && is_own_group(access, app, topic)
}

/// Of a consumer group. Kafka has none of its own, so any name may be a customer's.
pub(crate) fn is_own_group(access: &InstanceAccess, app: &App, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let rest = name.strip_prefix(access.instance.username.as_str());
    on_servers_of_its_own(app, &access.instance).is_ok()
        || rest.is_some_and(|rest| rest.starts_with(['-', '.']))
}
