//! Everything a plan is made from: one instance as it should be, and as it was
//! last seen.

use kafka::safety::Look;
use model::{
    Action, CertificateLife, Disk, DiskGuard, DiskLevel, Instance, Server, ServerId,
    SignedDuration, SlowedQuota, Timestamp, Vpc,
};
use std::collections::HashSet;
use store::Ticket;
use wire::agent::{
    CertificateRequest, Desired, DesiredBroker, DesiredCertificate, Phase, Report, Run,
};

/// Half a ticket's life.
const SPARE: SignedDuration = SignedDuration::from_secs(5);
/// A server is written to as long as it is heard of, and a while longer.
const UNREACHABLE: SignedDuration = SignedDuration::from_mins(10);

/// An instance with all that belongs to it. Read at one moment, never changed.
#[derive(Clone, Debug)]
pub struct World {
    pub now: Timestamp,
    /// When this control plane was started; nobody could report to it before.
    pub started_at: Timestamp,
    pub store_epoch: i64,
    pub instance: Instance,
    pub vpc: Option<Vpc>,
    pub servers: Vec<ServerView>,
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
    /// Nobody who had the instance before can act on it any more.
    pub is_fenced: bool,
    /// Servers whose agents the cloud has confirmed in this pass.
    pub confirmed: HashSet<ServerId>,
    /// What the brokers said when they were last asked in this pass.
    pub look: Option<Look>,
    /// Why they were asked in this pass and nobody told how the cluster is.
    pub unseen: Option<String>,
    /// What was asked for and is not reached yet.
    pub actions: Vec<Action>,
    /// Servers whose brokers run and don't answer: their agents, or us for long.
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

    /// Whether all that goes on was cancelled. Nothing waits for replicas that lag then: they
    /// may never catch up, and nothing else can be asked for before it has ended.
    pub(crate) fn is_cancelled(&self) -> bool {
        let mut actions = self.actions.iter();
        !self.actions.is_empty() && actions.all(|action| action.cancelled_at.is_some())
    }

    /// True if a majority of controllers satisfies the predicate, so that metadata can be
    /// committed.
    pub(crate) fn quorum_has(&self, predicate: impl Fn(&ServerView) -> bool) -> bool {
        let controllers = || self.servers.iter().filter(|view| view.server.is_controller());
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
            view.server.last_seen.is_none_or(|at| self.now.duration_since(at) < UNREACHABLE)
        };
        self.servers.iter().filter(|view| !view.server.stopped).filter(guarded).filter(heard)
    }

    /// Whether producers are to be slowed down, or let go. Limits of which nobody knows
    /// whether Kafka has taken them are set once more.
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

/// A server with its disk, and what it and its agent were told and said.
#[derive(Clone, Debug)]
pub struct ServerView {
    pub server: Server,
    /// Absent only while the instance is torn down.
    pub disk: Option<Disk>,
    pub broker: Option<DesiredBroker>,
    pub revision: i64,
    pub desired: Option<Desired>,
    pub report: Option<Report>,
    /// The report as it was sent.
    pub report_text: Option<String>,
    pub token_expires_at: Option<Timestamp>,
}

impl ServerView {
    /// The last report, if it is of this incarnation.
    pub fn current_report(&self) -> Option<&Report> {
        self.report.as_ref().filter(|report| report.incarnation == self.server.incarnation)
    }

    /// Whether the cloud may have it: a token is saved before the first attempt
    /// to make it, whatever became of that, and forgotten with the server.
    pub fn may_exist(&self) -> bool {
        self.server.made || self.token_expires_at.is_some()
    }

    /// Whether its broker runs, with whatever configuration.
    pub fn is_up(&self) -> bool {
        self.current_report().is_some_and(|report| report.phase == Phase::Running)
    }

    /// Since when its broker, though it runs, has not answered its own agent.
    pub fn unresponsive_since(&self) -> Option<Timestamp> {
        self.current_report().filter(|_| self.is_up())?.silent_since
    }

    /// Why its broker runs on though it shall stop, in its agent's words. What only
    /// waited for this very look is no reason any more.
    pub fn waits_for_leave(&self) -> Option<&String> {
        let report = self.current_report().filter(|_| self.is_up())?;
        report.waits_for_leave.as_ref().filter(|_| !report.wait_is_passing)
    }

    /// Whether its broker runs since it was last asked to be started anew. Whoever changes
    /// its configuration asks for that as well, unless it need not be in a hurry.
    pub fn is_current(&self) -> bool {
        let launch = self.current_report().map(|report| report.launch);
        self.is_up() && launch >= Some(self.server.launch)
    }

    /// Whether its broker has stopped as it was last told. A report that was
    /// late may be about an earlier stop.
    pub fn is_stopped(&self) -> bool {
        let told = self.desired.as_ref().filter(|told| told.run == Run::Stopped);
        let report = self.current_report().filter(|report| report.phase == Phase::Stopped);
        told.zip(report).is_some_and(|(told, report)| told.revision == report.revision)
    }

    /// Whether its broker can't be started for want of its disk.
    pub fn is_held(&self) -> bool {
        self.current_report().is_some_and(|report| report.disk_fault.is_some())
    }

    /// Whether its broker does not stay up, or can't be started.
    pub fn has_failed(&self) -> bool {
        self.current_report().is_some_and(|report| report.phase == Phase::Failed)
    }

    /// Whether its agent said that no broker runs.
    pub fn is_down(&self) -> bool {
        let phase = self.current_report().map(|report| report.phase);
        matches!(phase, Some(Phase::Preparing | Phase::Failed | Phase::Stopped))
    }

    /// The certificate issued for this name and generation, if any.
    pub fn certificate(&self, name: &str) -> Option<&DesiredCertificate> {
        self.desired.as_ref()?.certificates.iter().find(|certificate| {
            certificate.name == name
                && certificate.generation == self.server.certificate_generation
                && certificate.certificate.is_some()
        })
    }

    /// Requests of the wanted generation that no issued certificate answers. An
    /// agent that lost its keys asks again, with new ones.
    pub fn unanswered(&self) -> Vec<&CertificateRequest> {
        let requests = self.current_report().map_or(&[][..], |report| &report.requests);
        requests
            .iter()
            .filter(|request| request.generation == self.server.certificate_generation)
            .filter(|request| crate::desired::CERTIFICATES.contains(&request.name.as_str()))
            .filter(|request| !self.is_answered(request))
            .collect()
    }

    fn is_answered(&self, request: &CertificateRequest) -> bool {
        let issued = self.certificate(&request.name).and_then(|issued| issued.certificate.as_ref());
        issued.is_some_and(|issued| pki::answers(issued, &request.csr))
    }

    /// How people call it.
    pub fn title(&self) -> String {
        format!("server {}", self.server.number)
    }
}
