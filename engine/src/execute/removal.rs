//! Steps that undo: the thing first, then its rows. Things are removed by our
//! ids whether or not a row says that they were made, because a crash may have
//! come between the making and the write.

use super::cloud_steps::finished;
use crate::pass::{Done, Pass};
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use store::{Token, actions, disks, hash_key, instances, servers, vpcs};

impl Engine {
    pub(super) async fn remove_server(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let (cloud, by) = self.cloud_for(pass, world).await?;
        if let Err(done) = finished(cloud.remove_server(&by, view.server.id).await) {
            return Ok(done);
        }
        if let Some(disk) = &view.disk {
            let (cloud, by) = self.cloud_for(pass, world).await?;
            if let Err(done) = finished(cloud.remove_disk(&by, disk.id).await) {
                return Ok(done);
            }
        }
        // The addresses stay taken until nothing can use them any more.
        let mut work = self.guarded(pass).await?;
        if let Some(disk) = &view.disk {
            disks::remove(&mut work, disk.id).await?;
        }
        servers::remove(&mut work, view.server.id).await?;
        // Its disk may have been the last that was to become larger.
        actions::end_disks(&mut work, world.instance.id, self.clock.now()).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }

    /// Ends what runs; the disk and the addresses stay.
    pub(super) async fn hibernate(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        self.forget_enrolment(pass, view).await?;
        let (cloud, by) = self.cloud_for(pass, world).await?;
        if let Err(done) = finished(cloud.remove_server(&by, view.server.id).await) {
            return Ok(done);
        }
        let mut work = self.guarded(pass).await?;
        servers::set_hibernated(&mut work, view.server.id).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }

    /// The agent's keys go with the server. Saved before they are gone, so that
    /// the worker that starts the server after a crash gives its new agent a
    /// token.
    async fn forget_enrolment(&self, pass: &Pass, view: &ServerView) -> Result<(), PassError> {
        if view.server.enrolled_at.is_none() {
            return Ok(());
        }
        let nobodys = hash_key(&self.entropy.key());
        let mut work = self.guarded(pass).await?;
        let expired = Token { hash: nobodys, expires_at: self.clock.now() };
        servers::set_token(&mut work, view.server.id, &expired).await?;
        Ok(work.commit().await?)
    }

    /// The network goes if it is deleted and no other instance is left in it.
    /// No instance can join a deleted network, so that stays true. One that is stuck does not
    /// hold the pass: its row stays, and so its range, until the chores of networks have
    /// removed it.
    pub(super) async fn forget(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let vpc_id = world.instance.vpc_id;
        let deleted = world.vpc.as_ref().is_some_and(|vpc| vpc.deleted_at.is_some());
        let mut reader = self.store.reader();
        let goes = deleted && vpcs::is_left_to(&mut reader, vpc_id, world.instance.id).await?;
        let mut is_removed = false;
        if goes {
            let (cloud, _) = self.cloud_for(pass, world).await?;
            let removal = cloud.remove_network(vpc_id);
            let removal = tokio::time::timeout(self.settings.removal_patience, removal);
            if let Ok(outcome) = removal.await {
                if let Err(done) = finished(outcome) {
                    return Ok(done);
                }
                is_removed = true;
            } else {
                // The chores of networks go on with it.
                tracing::warn!(vpc = %vpc_id, "the removal of a network is stuck");
            }
        }
        // Last of all: from here on the cloud refuses a worker that comes too late.
        let (cloud, by) = self.cloud_for(pass, world).await?;
        if let Err(done) = finished(cloud.retire(&by).await) {
            return Ok(done);
        }
        let mut work = self.guarded(pass).await?;
        instances::remove(&mut work, world.instance.id).await?;
        if is_removed {
            vpcs::remove_deleted(&mut work, vpc_id).await?;
        }
        work.commit().await?;
        self.reach.forget(world.instance.id);
        tracing::info!(instance = %world.instance.id, "instance is gone");
        Ok(Done::Progress)
    }
}
