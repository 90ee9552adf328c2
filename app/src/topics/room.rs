//! How many partitions an instance may have.
//!
//! Every replica of a partition takes heap, files and time at each start of its broker, so a
//! plan has a highest number of them. Kafka has no such limit: topics that are made through its
//! own protocol count, but are not refused, and of several calls at once each sees what was
//! there before.

use crate::resources::{Cluster, is_own};
use crate::{App, Error, InstanceAccess, Result};
use std::collections::BTreeMap;

/// The replicas of an instance's partitions, and how many its plan allows.
pub(super) struct Room {
    /// By topic, without Kafka's own.
    replicas: BTreeMap<String, usize>,
    plan: String,
    /// None if the plan is no longer in the catalogue.
    most: Option<usize>,
}

impl Room {
    pub async fn look(access: &InstanceAccess, app: &App, cluster: &Cluster<'_>) -> Result<Self> {
        let mut replicas = cluster.ask(|admin, at| admin.topics().count_replicas(at)).await?;
        replicas.retain(|topic, _| is_own(access, app, topic));
        let plan = &access.instance.plan.0;
        let most = app.catalogue.plan(plan).map(|plan| {
            let most = u64::from(plan.family.partitions) * u64::from(plan.nodes);
            usize::try_from(most).unwrap_or(usize::MAX)
        });
        Ok(Self { replicas, plan: plan.clone(), most })
    }

    pub fn has(&self, topic: &str) -> bool {
        self.replicas.contains_key(topic)
    }

    /// Fails if the topic can't have so many partitions with so many replicas each.
    pub fn fits(&self, topic: &str, partitions: i32, replicas: usize) -> Result<()> {
        let Some(most) = self.most else { return Ok(()) };
        let others = self.replicas.iter().filter(|(name, _)| *name != topic);
        let others: usize = others.map(|(_, count)| count).sum();
        // One that is being made tells of no replicas yet.
        let left = most.saturating_sub(others) / replicas.max(1);
        if usize::try_from(partitions).is_ok_and(|wanted| wanted <= left) {
            return Ok(());
        }
        Err(Error::field(
            "partitions",
            format!(
                "must be at most {left} with {replicas} replicas: plan {} allows {most} partition \
                 replicas in all, and other topics have {others}; delete topics, or take a \
                 larger plan",
                self.plan
            ),
        ))
    }
}
