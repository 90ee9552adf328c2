//! Topics as the cluster has them.

use super::{own, there};
use crate::resources::{Cluster, is_own};
use crate::{App, InstanceAccess, Result};
use kafka::client::Topic;
use std::collections::HashMap;

/// A topic with the size of its copies.
#[derive(Clone, PartialEq, Debug)]
pub struct TopicDetails {
    pub topic: Topic,
    /// Bytes of the largest copy of each partition, by number; none where no
    /// broker told.
    pub sizes: HashMap<i32, i64>,
}

/// By name, without Kafka's own and other customers'.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Topic>> {
    let cluster = Cluster::open(access, app).await?;
    let mut topics = cluster.ask(|admin, at| admin.topics().list_topics(at)).await?;
    topics.retain(|topic| is_own(access, app, &topic.name));
    Ok(topics)
}

pub async fn read(access: &InstanceAccess, app: &App, name: &str) -> Result<TopicDetails> {
    let cluster = Cluster::open(access, app).await?;
    let name = own(access, app, name)?;
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name.as_str())).await?;
    let topic = there(found)?;
    let mut sizes = HashMap::new();
    for (_, directories) in cluster.log_dirs().await {
        let copies = directories.iter().flat_map(|directory| &directory.replicas);
        for copy in copies.filter(|copy| copy.topic == topic.name && !copy.future) {
            let size: &mut i64 = sizes.entry(copy.partition).or_default();
            *size = copy.bytes.max(*size);
        }
    }
    Ok(TopicDetails { topic, sizes })
}
