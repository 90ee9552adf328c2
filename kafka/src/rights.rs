//! What the default user of a dedicated instance may do. Pure.

use crate::client::{Acl, Operation, PatternType, Permission, ResourceType};

const CLUSTER: &str = "kafka-cluster";

/// Everything on every topic, group and transactional id; on the cluster, what a
/// customer administers. What no customer may do, such as changing Kafka's own
/// topics, is refused by the brokers' authorizer, which ACLs can't overrule.
pub fn of_default_user(username: &str) -> Vec<Acl> {
    let acl = |resource_type, pattern: &str, operation| Acl {
        resource_type,
        pattern: pattern.to_owned(),
        pattern_type: PatternType::Literal,
        principal: format!("User:{username}"),
        operation,
        permission: Permission::Allow,
    };
    let everything = [ResourceType::Topic, ResourceType::Group, ResourceType::TransactionalId]
        .map(|resource| acl(resource, "*", Operation::All));
    let cluster = [
        Operation::Alter,
        Operation::Describe,
        Operation::DescribeConfigs,
        Operation::IdempotentWrite,
    ]
    .map(|operation| acl(ResourceType::Cluster, CLUSTER, operation));
    everything.into_iter().chain(cluster).collect()
}
