//! What one server lacks until its broker runs on a disk that is sealed against formatting,
//! with valid certificates and the latest desired state, in the order it must come.

use super::{Lane, Step};
use crate::desired;
use crate::world::{ServerView, World};
use model::{Disk, DiskState, Timestamp};

/// Each part says whether its step is needed; all that are needed come in this order. The
/// agent is started as early as can be: what its first document needs is done while its
/// process comes up.
const PARTS: [fn(&Given) -> Option<Step>; 8] = [
    make_disk,
    seal_format,
    ensure_server,
    allow_format,
    render,
    renew_certificates,
    issue_certificates,
    publish,
];

/// What all parts look at.
struct Given<'a> {
    world: &'a World,
    view: &'a ServerView,
    /// When the server's certificates are due.
    renewal: Option<Timestamp>,
}

pub(super) fn provision(world: &World, view: &ServerView, renewal: Option<Timestamp>) -> Lane {
    let given = Given { world, view, renewal };
    let parts = PARTS.iter().filter(|_| !is_going(view));
    let steps = parts.filter_map(|part| part(&given)).collect();
    Lane { server: Some(view.server.id), steps }
}

/// Whether it leaves and its broker has stopped, or never ran: nothing is made for it any more.
/// One that was hibernated with its cluster may still hold replicas, and comes back. One that
/// shall stop and has not said that it has may run without its agent, which is started again.
fn is_going(view: &ServerView) -> bool {
    let never_ran = !view.is_sealed() && !view.is_up();
    let has_stopped = view.is_stopped() || !view.may_exist();
    view.server.is_leaving() && (never_ran || view.server.wanted.is_stopped() && has_stopped)
}

fn make_disk(Given { view, .. }: &Given) -> Option<Step> {
    disk_in(view, DiskState::Planned).map(|disk| Step::MakeDisk(disk.id))
}

fn seal_format(Given { view, .. }: &Given) -> Option<Step> {
    let disk = disk_in(view, DiskState::Formatting).filter(|_| view.is_up());
    disk.map(|disk| Step::SealFormat(disk.id))
}

/// The row says so before any agent is told to format: a disk that is empty later is lost,
/// not new.
fn allow_format(Given { view, .. }: &Given) -> Option<Step> {
    disk_in(view, DiskState::Made).map(|disk| Step::AllowFormat(disk.id))
}

fn disk_in(view: &ServerView, state: DiskState) -> Option<&Disk> {
    view.disk.as_ref().filter(|disk| disk.state == state)
}

fn render(Given { view, .. }: &Given) -> Option<Step> {
    view.broker.is_none().then_some(Step::Render(view.server.id))
}

/// One that shall stop for good is started again only where its broker still serves: the cloud
/// may no longer be able to.
fn ensure_server(Given { world, view, .. }: &Given) -> Option<Step> {
    let is_confirmed = world.confirmed.contains(&view.server.id);
    let may_be_gone = view.server.wanted.is_stopped() && world.may_be_gone(view);
    (!is_confirmed && !may_be_gone).then_some(Step::EnsureServer(view.server.id))
}

fn renew_certificates(Given { world, view, renewal }: &Given) -> Option<Step> {
    let is_due = renewal.is_some_and(|at| at <= world.now);
    is_due.then_some(Step::RenewCertificates(view.server.id))
}

fn issue_certificates(Given { view, .. }: &Given) -> Option<Step> {
    (!view.unanswered().is_empty()).then_some(Step::IssueCertificates(view.server.id))
}

fn publish(Given { world, view, .. }: &Given) -> Option<Step> {
    let is_to_be_told = view.broker.is_some() && desired::differs(world, view);
    is_to_be_told.then_some(Step::Publish(view.server.id))
}
