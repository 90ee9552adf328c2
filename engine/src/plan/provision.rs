//! What one server lacks until its broker runs on a disk that is sealed against formatting,
//! with valid certificates and the latest desired state, in the order it must come.

use super::{Lane, Step, renewal};
use crate::desired;
use crate::world::{ServerView, World};
use model::{Disk, DiskState, Timestamp};

/// Each part says whether its step is needed; all that are needed come in this order.
const PARTS: [fn(&World, &ServerView) -> Option<Step>; 6] =
    [prepare_disk, render, ensure_server, renew_certificates, issue_certificates, publish];

pub(super) fn provision(world: &World, view: &ServerView) -> Lane {
    let steps = PARTS.iter().filter_map(|part| part(world, view)).collect();
    Lane { server: Some(view.server.id), steps }
}

/// When the first of the servers' certificates is due.
pub(super) fn next_renewal(world: &World) -> Option<Timestamp> {
    world.servers.iter().filter_map(|view| renewal::due(world, view)).min()
}

fn prepare_disk(_: &World, view: &ServerView) -> Option<Step> {
    let Disk { id, state, .. } = *view.disk.as_ref()?;
    match state {
        DiskState::Planned => Some(Step::MakeDisk(id)),
        // The row says so before any agent can format: a disk that is empty
        // later is lost, not new.
        DiskState::Made => Some(Step::AllowFormat(id)),
        DiskState::Formatting => view.is_up().then_some(Step::SealFormat(id)),
        DiskState::Formatted => None,
    }
}

fn render(_: &World, view: &ServerView) -> Option<Step> {
    view.broker.is_none().then_some(Step::Render(view.server.id))
}

fn ensure_server(world: &World, view: &ServerView) -> Option<Step> {
    let is_confirmed = world.confirmed.contains(&view.server.id);
    (!is_confirmed).then_some(Step::EnsureServer(view.server.id))
}

fn renew_certificates(world: &World, view: &ServerView) -> Option<Step> {
    let is_due = renewal::due(world, view).is_some_and(|at| at <= world.now);
    is_due.then_some(Step::RenewCertificates(view.server.id))
}

fn issue_certificates(_: &World, view: &ServerView) -> Option<Step> {
    (!view.unanswered().is_empty()).then_some(Step::IssueCertificates(view.server.id))
}

fn publish(world: &World, view: &ServerView) -> Option<Step> {
    let is_to_be_told = view.broker.is_some() && desired::differs(world, view);
    is_to_be_told.then_some(Step::Publish(view.server.id))
}
