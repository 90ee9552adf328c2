//! Placement asked of a real cluster.

use super::{Altered, Assignment, Placement, PlacementView, Reassignment};
use crate::client::admin::reassignments::{AlterReassignments, ListReassignments};
use crate::client::{Cluster, Error, ProtocolAdmin, TopicPartition};
use async_trait::async_trait;

/// Partitions of one request: each is a record for the controller, which writes them at once.
const MOST_AT_ONCE: usize = 500;

#[async_trait]
impl Placement for ProtocolAdmin {
    async fn read_placement(&self, cluster: &Cluster) -> Result<PlacementView, Error> {
        super::read::read(self, cluster).await
    }

    async fn reassign(&self, cluster: &Cluster, to: &[Assignment]) -> Result<Altered, Error> {
        let all: Vec<_> = to.iter().map(|it| (&it.at, Some(&*it.replicas))).collect();
        alter(self, cluster, &all).await
    }

    async fn cancel_reassignments(
        &self,
        cluster: &Cluster,
        of: &[TopicPartition],
    ) -> Result<Altered, Error> {
        let all: Vec<_> = of.iter().map(|at| (at, None)).collect();
        alter(self, cluster, &all).await
    }

    async fn list_reassignments(&self, cluster: &Cluster) -> Result<Vec<Reassignment>, Error> {
        self.ask(cluster, &ListReassignments).await
    }
}

async fn alter(
    admin: &ProtocolAdmin,
    cluster: &Cluster,
    all: &[(&TopicPartition, Option<&[i32]>)],
) -> Result<Altered, Error> {
    let mut altered = Altered::default();
    for partitions in all.chunks(MOST_AT_ONCE) {
        let Altered { done, refused } =
            admin.ask(cluster, &AlterReassignments { partitions }).await?;
        altered.done.extend(done);
        altered.refused.extend(refused);
    }
    Ok(altered)
}
