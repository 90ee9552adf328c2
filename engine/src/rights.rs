//! What the default user of a dedicated instance may do. Pure.

use kafka::client::{Acl, Operation, PatternType, Permission, ResourceType};

const CLUSTER: &str = "kafka-cluster";
/// Kafka's own topics begin like this.
const INTERNAL: &str = "__";

/// Everything on every topic, group and transactional id, but no change to
/// Kafka's own topics. On the cluster, what a customer administers; not
/// `ClusterAction`, which is a broker's right, not `AlterConfigs`, which changes
/// the brokers' own settings past us, and not `Create`, which would allow topics
/// of any name past the refusal.
pub(crate) fn of_default_user(username: &str) -> Vec<Acl> {
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
    let refused = [
        Operation::Write,
        Operation::Create,
        Operation::Delete,
        Operation::Alter,
        Operation::AlterConfigs,
    ]
    .map(|operation| Acl {
        pattern_type: PatternType::Prefixed,
        permission: Permission::Deny,
        ..acl(ResourceType::Topic, INTERNAL, operation)
    });
    everything.into_iter().chain(cluster).chain(refused).collect()
}
