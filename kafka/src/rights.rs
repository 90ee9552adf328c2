//! What the default user of a dedicated instance may do, and clients without a login. Pure.

use crate::client::{Acl, Operation, PatternType, Permission, ResourceType};

const CLUSTER: &str = "kafka-cluster";
/// The principal of clients of the listener without a login.
pub const ANONYMOUS: &str = "User:ANONYMOUS";

/// Everything on every topic, group and transactional id; on the cluster, what a
/// customer administers. What no customer may do, such as changing Kafka's own
/// topics, is refused by the brokers' authorizer, which ACLs can't overrule.
pub fn of_default_user(username: &str) -> Vec<Acl> {
    let principal = format!("User:{username}");
    let cluster = [
        Operation::Alter,
        Operation::Describe,
        Operation::DescribeConfigs,
        Operation::IdempotentWrite,
    ]
    .map(|operation| acl(&principal, ResourceType::Cluster, CLUSTER, operation));
    everything_to(&principal).into_iter().chain(cluster).collect()
}

/// Everything but the cluster's own, where nobody outside the instance's network reaches the
/// listener without a login.
pub fn of_anonymous() -> Vec<Acl> {
    everything_to(ANONYMOUS).into()
}

fn everything_to(principal: &str) -> [Acl; 3] {
    [ResourceType::Topic, ResourceType::Group, ResourceType::TransactionalId]
        .map(|resource| acl(principal, resource, "*", Operation::All))
}

fn acl(principal: &str, resource_type: ResourceType, pattern: &str, operation: Operation) -> Acl {
    Acl {
        resource_type,
        pattern: pattern.to_owned(),
        pattern_type: PatternType::Literal,
        principal: principal.to_owned(),
        operation,
        permission: Permission::Allow,
    }
}
