//! What the default user of a dedicated instance may do. Pure.

use kafka::client::{Acl, Operation, PatternType, ResourceType};

const CLUSTER: &str = "kafka-cluster";

/// Everything on every topic, group and transactional id. On the cluster, what
/// a customer administers; not `ClusterAction`, which is a broker's right, and
/// not `AlterConfigs`, which changes the brokers' own settings past us.
pub(crate) fn of_default_user(username: &str) -> Vec<Acl> {
    let acl = |resource_type, pattern: &str, operation| Acl {
        resource_type,
        pattern: pattern.to_owned(),
        pattern_type: PatternType::Literal,
        principal: format!("User:{username}"),
        operation,
    };
    let everything = [ResourceType::Topic, ResourceType::Group, ResourceType::TransactionalId]
        .map(|resource| acl(resource, "*", Operation::All));
    let cluster = [
        Operation::Create,
        Operation::Alter,
        Operation::Describe,
        Operation::DescribeConfigs,
        Operation::IdempotentWrite,
    ]
    .map(|operation| acl(ResourceType::Cluster, CLUSTER, operation));
    everything.into_iter().chain(cluster).collect()
}
