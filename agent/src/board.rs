//! What the agent sees, in one place: the parts write, the link reports.
//!
//! A write that changes nothing wakes no reader.

use jiff::Timestamp;
use std::sync::Arc;
use tokio::sync::watch;
use wire::agent::{CertificateRequest, Deliveries, InstalledCertificate, Loading, Phase, Report};

/// How the broker does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    pub phase: Phase,
    pub detail: String,
    pub log_tail: Vec<String>,
    pub broker_pid: Option<i32>,
    pub restarts: u32,
    pub config_hash: Option<String>,
    /// What the broker was started for.
    pub launch: i64,
    pub disk_fault: Option<String>,
    pub waits_for_leave: Option<String>,
    pub wait_is_passing: bool,
    pub loading: Option<Loading>,
}

impl Status {
    pub fn new(phase: Phase, detail: impl Into<String>) -> Self {
        Self {
            phase,
            detail: detail.into(),
            log_tail: Vec::new(),
            broker_pid: None,
            restarts: 0,
            config_hash: None,
            launch: 0,
            disk_fault: None,
            waits_for_leave: None,
            wait_is_passing: false,
            loading: None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    pub revision: i64,
    pub store_epoch: i64,
    pub status: Status,
    /// The broker that does not answer, and since when.
    pub silence: Option<Silence>,
    pub requests: Vec<CertificateRequest>,
    pub certificates: Vec<InstalledCertificate>,
    /// How the server's logs get to where they are wanted, if they are.
    pub deliveries: Option<Deliveries>,
}

/// A broker's process that lives and does not answer its own agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Silence {
    pub pid: i32,
    pub since: Timestamp,
}

impl View {
    /// Since when the broker at hand has not answered, though it has started. What
    /// was measured of another is no word about this one.
    pub fn silent_since(&self) -> Option<Timestamp> {
        let pid = self.status.broker_pid.filter(|_| self.status.phase == Phase::Running);
        self.silence.filter(|silence| Some(silence.pid) == pid).map(|silence| silence.since)
    }

    pub fn report(&self, incarnation: i64) -> Report {
        let status = self.status.clone();
        let silent_since = self.silent_since();
        Report {
            incarnation,
            agent_version: env!("CARGO_PKG_VERSION").into(),
            agent_pid: i32::try_from(std::process::id()).ok(),
            revision: self.revision,
            store_epoch: self.store_epoch,
            phase: status.phase,
            detail: status.detail,
            log_tail: status.log_tail,
            broker_pid: status.broker_pid,
            restarts: status.restarts,
            config_hash: status.config_hash,
            launch: status.launch,
            disk_fault: status.disk_fault,
            waits_for_leave: status.waits_for_leave,
            wait_is_passing: status.wait_is_passing,
            loading: status.loading,
            silent_since,
            requests: self.requests.clone(),
            certificates: self.certificates.clone(),
            integrations: self.deliveries.clone(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Board(Arc<watch::Sender<View>>);

impl Default for Board {
    fn default() -> Self {
        let status = Status::new(Phase::Preparing, "waiting for the control plane");
        let (requests, certificates) = (Vec::new(), Vec::new());
        let view = View {
            revision: 0,
            store_epoch: 0,
            status,
            silence: None,
            requests,
            certificates,
            deliveries: None,
        };
        Self(Arc::new(watch::channel(view).0))
    }
}

impl Board {
    pub fn set_status(&self, status: Status) {
        self.change(|view| view.status = status);
    }

    pub fn set_detail(&self, detail: String) {
        self.change(|view| view.status.detail = detail);
    }

    pub fn set_revision(&self, revision: i64, store_epoch: i64) {
        self.change(|view| (view.revision, view.store_epoch) = (revision, store_epoch));
    }

    pub fn set_silence(&self, silence: Option<Silence>) {
        self.change(|view| view.silence = silence);
    }

    pub fn set_certificates(
        &self,
        requests: Vec<CertificateRequest>,
        installed: Vec<InstalledCertificate>,
    ) {
        self.change(|view| (view.requests, view.certificates) = (requests, installed));
    }

    pub fn set_deliveries(&self, deliveries: Option<Deliveries>) {
        self.change(|view| view.deliveries = deliveries);
    }

    pub fn view(&self) -> View {
        self.0.borrow().clone()
    }

    pub fn subscribe(&self) -> watch::Receiver<View> {
        self.0.subscribe()
    }

    fn change(&self, write: impl FnOnce(&mut View)) {
        self.0.send_if_modified(|view| {
            let before = view.clone();
            write(view);
            *view != before
        });
    }
}
