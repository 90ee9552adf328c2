//! Carrying out one step: the effect, then the write that says so. A crash
//! between the two repeats the effect, so every effect is idempotent.

mod certificates;
mod cloud_steps;
mod customer;
mod documents;
mod grant;
mod leaders;
mod leaving;
mod look;
mod min_isr;
mod moving;
mod placement;
mod removal;
mod resize;
mod slowing;
mod ticket;
mod voters;

use crate::pass::{Done, Pass, is_past};
use crate::plan::Step;
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use model::{Disk, DiskId, DiskState, InstanceProgress, ServerId};
use store::{actions, disks, instances};

impl Engine {
    pub(crate) async fn execute(
        &self,
        pass: &Pass,
        world: &World,
        step: Step,
    ) -> Result<Done, PassError> {
        match step {
            Step::TakeOver => self.take_over(pass, world).await,
            Step::MakeNetwork => self.make_network(pass, world).await,
            Step::MakeDisk(id) | Step::GrowDisk(id) => {
                self.make_disk(pass, world, disk(world, id)).await
            }
            Step::EnsureServer(id) => self.ensure_server(pass, world, server(world, id)).await,
            Step::Render(id) => self.render(pass, world, server(world, id)).await,
            Step::AllowFormat(id) => {
                self.advance(pass, id, DiskState::Made, DiskState::Formatting).await
            }
            Step::RenewCertificates(id) => self.renew_certificates(pass, server(world, id)).await,
            Step::IssueCertificates(id) => {
                self.issue_certificates(pass, world, server(world, id)).await
            }
            Step::Publish(id) => self.publish(pass, world, server(world, id)).await,
            Step::SealFormat(id) => {
                self.advance(pass, id, DiskState::Formatting, DiskState::Formatted).await
            }
            Step::SetCredentials => self.set_credentials(pass, world).await,
            Step::CheckLogin => self.check_login(pass, world).await,
            Step::Look => self.look(world).await,
            Step::ReturnLeaders(id) => self.return_leaders(pass, world, server(world, id)).await,
            Step::Place => self.place(pass, world).await,
            Step::AddVoter(id) => self.add_voter(pass, world, server(world, id)).await,
            Step::RemoveVoter(id) => self.remove_voter(pass, world, server(world, id)).await,
            Step::Cordon => self.cordon(pass, world).await,
            Step::SetMinIsr(to) => self.set_min_isr(pass, world, to).await,
            Step::NoteReplicas => self.note_replicas(pass, world).await,
            Step::Move => self.move_replicas(pass, world).await,
            Step::AdjustThrottle => self.adjust_throttle(pass, world).await,
            Step::EndMending => self.end_mending(pass, world).await,
            Step::PutBackMinIsr => self.put_back_min_isr(pass, world).await,
            Step::EndThrottles => self.end_throttles(pass, world).await,
            Step::RestartStaying => self.restart_staying(pass, world).await,
            Step::BeginRemoving => self.begin_removing(pass, world).await,
            Step::StopLeaving => self.stop_leaving(pass, world).await,
            Step::StartLeaving(id) => self.start_leaving(pass, world, server(world, id)).await,
            Step::RemoveLeaving(id) => self.remove_leaving(pass, world, server(world, id)).await,
            Step::EndResize => self.end_resize(pass, world).await,
            Step::Hibernate(id) => self.hibernate(pass, world, server(world, id)).await,
            Step::NoteStopping => self.note(pass, world, |progress| progress.ready_at = None).await,
            Step::OpenTicket(server) => self.open_ticket(pass, world, server).await,
            Step::CloseTicket => self.close_ticket(pass).await,
            Step::Reach | Step::NoteStopped => {
                let reached = world.reachable();
                self.note(pass, world, |progress| progress.observed_generation = reached).await
            }
            Step::RemoveServer(id) => self.remove_server(pass, world, server(world, id)).await,
            Step::Forget => self.forget(pass, world).await,
        }
    }

    async fn advance(
        &self,
        pass: &Pass,
        disk: DiskId,
        from: DiskState,
        to: DiskState,
    ) -> Result<Done, PassError> {
        let mut work = self.guarded(pass).await?;
        disks::advance(&mut work, disk, from, to).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }

    /// Saves a change of the instance's progress, as that is by now: a step takes its
    /// time, and what was asked or taken back meanwhile has been written there.
    async fn note(
        &self,
        pass: &Pass,
        world: &World,
        change: impl FnOnce(&mut InstanceProgress),
    ) -> Result<Done, PassError> {
        let id = world.instance.id;
        let mut work = self.guarded(pass).await?;
        instances::hold(&mut work, id).await?;
        // One that is gone is found to be so in the next turn.
        let Some(now) = instances::find(&mut work, id).await? else { return Ok(Done::Progress) };
        let mut progress = InstanceProgress { failures: 0, ..now.progress.clone() };
        change(&mut progress);
        if is_past(&now, &world.instance) {
            progress.conditions.clone_from(&now.progress.conditions);
        }
        // What was reached since, by being taken back, stays reached.
        let reached = progress.observed_generation.max(now.progress.observed_generation);
        progress.observed_generation = reached;
        instances::set_progress(&mut work, id, &progress).await?;
        if reached > now.progress.observed_generation {
            // The action of a change of servers ends when its row in `resizes` is gone.
            actions::end(&mut work, id, world.instance.generation, self.clock.now()).await?;
        }
        work.commit().await?;
        Ok(Done::Progress)
    }
}

fn server(world: &World, id: ServerId) -> &ServerView {
    let found = world.servers.iter().find(|view| view.server.id == id);
    found.expect("a plan names only servers of its world")
}

fn disk(world: &World, id: DiskId) -> &Disk {
    let mut disks = world.servers.iter().filter_map(|view| view.disk.as_ref());
    disks.find(|disk| disk.id == id).expect("a plan names only disks of its world")
}
