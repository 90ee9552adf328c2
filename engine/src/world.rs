//! Everything a plan is made from: one instance as it should be, and as it was
//! last seen.

mod life;
mod placed;
mod server_view;

pub use life::Life;
pub use placed::{Placed, throttle};
pub use server_view::ServerView;

use kafka::safety::Look;
use model::{
    Action, CertificateLife, DiskGuard, DiskLevel, Instance, Membership, Resize, Server, ServerId,
    SignedDuration, SlowedQuota, Timestamp, Vpc,
};
use std::collections::HashSet;
use std::sync::Arc;
use store::Ticket;

/// Half a ticket's life.
const SPARE: SignedDuration = SignedDuration::from_secs(5);
/// An agent that was not heard for so long may be gone with its server.
const SILENT: SignedDuration = SignedDuration::from_secs(30);
/// Producers stay slowed for a server that reported within this time.
const STILL_WRITTEN_TO: SignedDuration = SignedDuration::from_mins(10);

/// An instance with all that belongs to it. Read at one moment, never changed.
#[derive(Clone, Debug)]
pub struct World {
    pub now: Timestamp,
    /// When this control plane was started; no agent could report to it before.
    pub started_at: Timestamp,
    pub store_epoch: i64,
    pub instance: Instance,
    pub vpc: Option<Vpc>,
    pub servers: Vec<ServerView>,
    /// Whether its cloud enforces firewall rules, once that is known.
    pub firewall_enforced: Option<bool>,
    pub trust: Trust,
    /// Of the certificates that are issued from now on.
    pub certificate_life: CertificateLife,
    /// Servers whose disks are nearly full.
    pub disk_guards: Vec<DiskGuard>,
    /// While producers are slowed down: their quotas before. Of a restored store that can't
    /// know whether they are: an empty list.
    pub slowed: Option<Vec<SlowedQuota>>,
    /// Of the lease that this pass works under.
    pub epoch: i64,
    /// The open ticket, whoever opened it.
    pub ticket: Option<Ticket>,
    /// The cloud refuses effects of earlier leases.
    pub is_fenced: bool,
    /// Servers whose agents the cloud has confirmed in this pass.
    pub confirmed: HashSet<ServerId>,
    /// What the brokers said when they were last asked in this pass.
    pub look: Option<Look>,
    /// The error of the look in this pass, if no broker described the quorum.
    pub unseen: Option<String>,
    /// Servers that got none of the leaders back that they should have, in this pass.
    pub leaders_refused: HashSet<ServerId>,
    /// While the number of servers changes, or the cluster is rebalanced.
    pub resize: Option<Resize>,
    /// Where replicas are, as last read in this pass.
    pub placed: Option<Arc<Placed>>,
    /// What was asked for and is not reached yet.
    pub actions: Vec<Action>,
    /// Servers whose brokers run and don't answer. A broker counts if its agent reports that,
    /// unless it answered us within 15 s, or if it gave us no answer for 30 s
    /// (`engine/src/replies.rs`).
    pub unresponsive: HashSet<ServerId>,
}

impl World {
    /// Whether the ticket is for this server, or for all, was opened by this very
    /// pass, and is good until the next look.
    pub(crate) fn ticket_lasts(&self, server: Option<ServerId>) -> bool {
        self.ticket.as_ref().is_some_and(|ticket| {
            ticket.server_id == server && ticket.epoch == self.epoch && ticket.left > SPARE
        })
    }

    /// Whether its broker runs and has given no answer for so long that it won't.
    pub(crate) fn is_unresponsive(&self, view: &ServerView) -> bool {
        self.unresponsive.contains(&view.server.id)
    }

    /// Whether clients without a login shall have rights: only where rules keep everybody who is
    /// outside the instance's network from the listener that they come to. While that is not
    /// known, it stays as it is.
    pub(crate) fn lets_anonymous_in(&self) -> bool {
        self.firewall_enforced.unwrap_or(self.instance.progress.anonymous_let_in)
    }

    /// Whether Kafka gives clients without a login other rights than they shall have.
    pub(crate) fn anonymous_differs(&self) -> bool {
        self.lets_anonymous_in() != self.instance.progress.anonymous_let_in
    }

    /// Whether all that goes on was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        let mut actions = self.actions.iter();
        !self.actions.is_empty() && actions.all(|action| action.cancelled_at.is_some())
    }

    /// Whether customers were let in at some time. That their credentials are set does not
    /// say so: those are written once most controllers run on sealed disks, before all
    /// servers serve.
    pub(crate) fn was_ready(&self) -> bool {
        let progress = &self.instance.progress;
        progress.credentials_set && progress.observed_generation > 0
    }

    /// The generation that is reached once the cluster runs, or is stopped, as asked. A change
    /// of servers outlives a stop of its cluster: until it has ended, its own generation or a
    /// later one is still to be reached, and the instance does not count as configured.
    pub(crate) fn reachable(&self) -> i64 {
        self.instance.generation - i64::from(self.resize.is_some())
    }

    /// Where replicas are, if it was read for servers that join and leave as they do now.
    pub(crate) fn placed(&self) -> Option<&Placed> {
        self.placed.as_deref().filter(|placed| placed.is_of(self))
    }

    /// Whether it leaves and may never run again: the controllers don't let it serve, as far as
    /// they were asked, and its agent is silent, or says that no broker runs or that it hangs.
    pub(crate) fn may_be_gone(&self, view: &ServerView) -> bool {
        let is_silent = |at: Timestamp| self.now.duration_since(at) > SILENT;
        let is_heard = !view.server.last_seen.is_some_and(is_silent);
        let serves = self.placed().is_some_and(|placed| placed.serves(view.server.node_id));
        let works = view.is_up() && is_heard && view.unresponsive_since().is_none();
        view.server.is_leaving() && !serves && !works
    }

    /// Servers that neither join nor leave.
    pub(crate) fn members(&self) -> impl Iterator<Item = &ServerView> {
        self.servers.iter().filter(|view| view.server.membership == Membership::Member)
    }

    /// True if a majority of controllers satisfies the predicate, so that metadata can be
    /// committed. One that joins has no vote yet, and one that has stopped to leave no more.
    pub(crate) fn quorum_has(&self, predicate: impl Fn(&ServerView) -> bool) -> bool {
        let votes = |server: &Server| match server.membership {
            Membership::Joining => false,
            Membership::Member => true,
            Membership::Leaving => !server.wanted.is_stopped(),
        };
        let controllers = || {
            let all = self.servers.iter().filter(|view| view.server.is_controller());
            all.filter(|view| votes(&view.server))
        };
        controllers().filter(|view| predicate(view)).count() * 2 > controllers().count()
    }

    /// The servers for whose disks producers shall be slowed down. One that is stopped, or
    /// was not heard of for long, takes nothing.
    pub(crate) fn slowed_for(&self) -> impl Iterator<Item = &ServerView> {
        let guarded = |view: &&ServerView| {
            let mut guards = self.disk_guards.iter();
            guards.any(|it| it.server_id == view.server.id && it.level == DiskLevel::Slowed)
        };
        let heard = |view: &&ServerView| {
            view.server.last_seen.is_none_or(|at| self.now.duration_since(at) < STILL_WRITTEN_TO)
        };
        self.servers
            .iter()
            .filter(|view| !view.server.wanted.is_stopped())
            .filter(guarded)
            .filter(heard)
    }

    /// Whether producers are to be slowed down, or let go. Limits that Kafka may or may
    /// not have taken are set once more.
    pub(crate) fn is_to_slow_or_let_go(&self) -> bool {
        if self.slowed_for().next().is_some() {
            let is_unsure = |quotas: &Vec<SlowedQuota>| {
                quotas.is_empty() || quotas.iter().any(|quota| !quota.is_set)
            };
            self.slowed.as_ref().is_none_or(is_unsure)
        } else {
            self.slowed.is_some()
        }
    }

    /// All servers, those whose brokers run first: one that starts accepts connections long
    /// before it answers.
    pub(crate) fn running_first(&self) -> Vec<Server> {
        let (up, others): (Vec<_>, Vec<_>) = self.servers.iter().partition(|view| view.is_up());
        up.into_iter().chain(others).map(|view| view.server.clone()).collect()
    }

    pub(crate) fn server_rows(&self) -> Vec<Server> {
        self.servers.iter().map(|view| view.server.clone()).collect()
    }
}

/// The authorities' certificates that servers trust or are certified by, and what of
/// theirs is revoked.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    pub internal: String,
    pub clients: String,
    /// Signs what servers show to customers.
    pub server: String,
    /// Serials of the clients' that are trusted no more, in order.
    pub revoked: Vec<String>,
}
