//! More partitions of a topic, or other settings.

use super::{number, own, there};
use crate::resources::{Cluster, change};
use crate::{App, Asked, Error, InstanceAccess, Result};
use kafka::client::{Topic, TopicChange};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TopicUpdate {
    pub partitions: Option<i64>,
    /// All that is set for this very topic from then on.
    pub config: Option<BTreeMap<String, String>>,
}

pub async fn update(
    access: &InstanceAccess,
    app: &App,
    name: &str,
    asked: Asked<TopicUpdate>,
) -> Result<Topic> {
    access.may_change()?;
    let cluster = Cluster::open(access, app).await;
    let name = own(access, app, name)?;
    let (asked, mut problems) = asked.open()?;
    let partitions: Option<i32> = number(&mut problems, "partitions", asked.partitions);
    problems.finish()?;
    let cluster = cluster?;
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name.as_str())).await?;
    let topic = there(found)?;
    let there = topic.partitions.len();
    if partitions.is_some_and(|wanted| usize::try_from(wanted).is_ok_and(|it| it < there)) {
        let what = format!("must be at least {there}, as it has now: partitions only grow");
        return Err(Error::field("partitions", what));
    }
    let wanted = TopicChange { partitions, settings: asked.config };
    let about = [("topic", name.to_string())];
    change(access, app, "topic.update", &about, alter(&cluster, name.as_str(), &wanted)).await
}

async fn alter(cluster: &Cluster<'_>, name: &str, wanted: &TopicChange) -> Result<Topic> {
    if !cluster.ask(|admin, at| admin.topics().change_topic(at, name, wanted)).await? {
        return Err(Error::NotFound);
    }
    // Whether it is there for all is seen from what one of them has by now.
    let changed = there(cluster.ask(|admin, at| admin.topics().describe_topic(at, name)).await?)?;
    let (count, settings) = (changed.partitions.len(), &changed.settings);
    cluster
        .until_all_show(|admin, alone| async move {
            let seen = admin.topics().describe_topic(&alone, name).await?;
            Ok(seen.is_some_and(|it| it.partitions.len() == count && it.settings == *settings))
        })
        .await;
    Ok(changed)
}
