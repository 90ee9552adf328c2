//! One server as a plan sees it: its row, its disk, what its agent was told and what it
//! reported.

use model::{Disk, DiskState, Server, ServerState, Timestamp};
use wire::agent::{
    CERTIFICATES, CertificateRequest, Desired, DesiredBroker, DesiredCertificate, Phase, Report,
};

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
        self.server.state == ServerState::Made || self.token_expires_at.is_some()
    }

    /// Whether its broker runs, with whatever configuration.
    pub fn is_up(&self) -> bool {
        self.current_report().is_some_and(Report::is_up)
    }

    /// Whether a broker was seen on its disk, which is never formatted again.
    pub fn is_sealed(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.state == DiskState::Formatted)
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

    /// True if the broker was started for the wanted launch or a later one. A change of
    /// settings raises the launch.
    pub fn is_current(&self) -> bool {
        let launch = self.server.wanted.launch();
        self.current_report().is_some_and(|report| report.is_up_since(launch))
    }

    /// Whether its broker has stopped as it was last told. A report that was
    /// late may be about an earlier stop.
    pub fn is_stopped(&self) -> bool {
        let told = self.desired.as_ref().zip(self.current_report());
        told.is_some_and(|(desired, report)| report.has_stopped_by(desired))
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
            .filter(|request| CERTIFICATES.contains(&request.name.as_str()))
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
