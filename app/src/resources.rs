//! What people do with a running cluster: topics, users, rights, groups.
//!
//! Kafka is the truth, and nothing of it is copied into the store but what Kafka
//! can't hold. These are the only use cases that touch a cluster before they
//! answer, so each has a deadline, and a change is in the audit log before it is
//! tried and once more with its outcome: whatever dies in between is told.

mod ask;
mod change;
mod demand;
mod repeat;
mod stale_brokers;
mod unanswered;

pub(crate) use ask::Cluster;
pub(crate) use change::change;
pub(crate) use demand::demand_may_change;
pub(crate) use stale_brokers::StaleBrokers;
pub(crate) use unanswered::unknown;

use crate::access::on_servers_of_its_own;
use crate::{App, Error, InstanceAccess, Result};

/// How the names of topics begin that are Kafka's own, which no customer touches.
const INTERNAL: &str = "__";

/// Whether a topic is the customer's: on shared plans it has those with its prefix.
pub(crate) fn is_own(access: &InstanceAccess, app: &App, topic: &str) -> bool {
    !topic.starts_with(INTERNAL) && is_own_group(access, app, topic)
}

/// The same of a consumer group. Kafka has none of its own, so any name may be a customer's.
pub(crate) fn is_own_group(access: &InstanceAccess, app: &App, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let rest = name.strip_prefix(access.instance.username.as_str());
    on_servers_of_its_own(app, &access.instance).is_ok()
        || rest.is_some_and(|rest| rest.starts_with(['-', '.']))
}

/// What a request is about and what it asks for, as both were found. That the thing is
/// not there comes first, then what is wrong with the request, then why the cluster could
/// not be asked: a caller that has to ask again anyway should know what else to mend.
pub(crate) fn in_order<T, U>(found: Result<T>, asked: Result<U>) -> Result<(T, U)> {
    if let Err(gone @ (Error::NotFound | Error::InvalidId)) = found {
        return Err(gone);
    }
    let asked = asked?;
    Ok((found?, asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_s_order() {
        let check = |found: Result<i32>, asked: Result<i32>, expected: &str| {
            let outcome = match in_order(found, asked) {
                Ok((found, asked)) => format!("{found} {asked}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(outcome, expected);
        };
        let wrong = || Err(Error::Unreadable("no JSON".into()));
        let state = || Err(Error::Refused("not ready".into()));
        check(Ok(1), Ok(2), "1 2");
        check(Ok(1), wrong(), "no JSON");
        check(Err(Error::NotFound), wrong(), "Not Found");
        check(Err(Error::InvalidId), wrong(), "Invalid ID");
        check(Err(Error::NotFound), Ok(2), "Not Found");
        check(state(), wrong(), "no JSON");
        check(state(), Ok(2), "not ready");
    }
}
