//! The step that makes a disk larger while its broker runs.

use super::cloud_steps::{disk_spec, finished};
use crate::pass::{Done, Pass};
use crate::world::World;
use crate::{Engine, PassError};
use model::Disk;
use store::{actions, disks};

impl Engine {
    pub(super) async fn grow_disk(
        &self,
        pass: &Pass,
        world: &World,
        disk: &Disk,
    ) -> Result<Done, PassError> {
        let (cloud, by) = self.cloud_for(pass, world).await?;
        if let Err(done) = finished(cloud.ensure_disk(&by, &disk_spec(disk)).await) {
            return Ok(done);
        }
        let mut work = self.guarded(pass).await?;
        disks::set_made_gb(&mut work, disk.id, disk.size_gb).await?;
        actions::end_disks(&mut work, disk.instance_id, self.clock.now()).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }
}
