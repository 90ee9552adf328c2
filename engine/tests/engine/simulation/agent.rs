//! An agent as it behaves: it enrols with a token or not at all, keeps the last
//! desired state it was given and obeys that alone, and reports.
//!
//! Its directory goes with the server; its broker's process outlives it.

use super::ground::Ground;
use crate::rows::Rows;
use cloud::SimulatedCloud;
use kafka::simulated::Process;
use model::{Clock, ServerId, SignedDuration, Timestamp};
use pki::Facts;
use reach::Reach;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use store::{ServerRecord, hash_key, instances, servers, tickets};
use wire::agent::{
    CERTIFICATES, CertificateRequest, Desired, FIRST_GENERATION, InstalledCertificate, Phase,
    Report, Run,
};

/// A broker that does not answer for so long is told of.
const SILENT: SignedDuration = SignedDuration::from_secs(20);

pub struct SimAgent {
    pub server: ServerId,
    directory: Directory,
    /// Of the process that runs; none while there is none.
    pid: Option<i32>,
    starts: i32,
    /// It does nothing for so many steps.
    pub slow: u32,
    /// It does not see a new desired state for so many steps.
    pub stale: u32,
    /// The next answer to it is lost after its effect.
    pub lose_reply: bool,
    /// Since when its broker stands still.
    silence: Option<Timestamp>,
    /// Its broker answers it, and nobody else.
    pub hears: bool,
    /// It does not hear its broker, which serves.
    pub deaf: bool,
    /// Everything it said so far.
    said: Vec<String>,
}

/// What is on the server beside the disk.
#[derive(Default)]
struct Directory {
    life: u32,
    /// What it was let in with: an incarnation and a key.
    identity: Option<(i64, String)>,
    desired: Option<Desired>,
    requests: BTreeMap<(String, i64), String>,
    /// What is in place, by name, and stays there until another has come.
    installed: BTreeMap<String, String>,
}

impl SimAgent {
    pub fn new(server: ServerId) -> Self {
        Self {
            server,
            directory: Directory::default(),
            pid: None,
            starts: 0,
            slow: 0,
            stale: 0,
            lose_reply: false,
            silence: None,
            hears: false,
            deaf: false,
            said: vec![],
        }
    }

    /// One round, with what the control plane has of it. Whether it had
    /// something new to say.
    pub async fn step(
        &mut self,
        rows: &Rows,
        reach: &Reach,
        cloud: &SimulatedCloud,
        ground: &Arc<Mutex<Ground>>,
        record: Option<ServerRecord>,
    ) -> bool {
        let life = ground.lock().unwrap().lives.get(&self.server).copied().unwrap_or_default();
        if life != self.directory.life {
            self.directory = Directory { life, ..Directory::default() };
            self.pid = None;
        }
        if !self.is_up(cloud) {
            return false;
        }
        if let Some(record) = &record {
            self.enrol(rows, cloud, record).await;
            self.fetch(record);
        }
        let stands_still = self.deaf || ground.lock().unwrap().stands_still(self.server);
        let since = self.silence.unwrap_or_else(|| rows.clock.now());
        self.silence = stands_still.then_some(since);
        let may_stop = self.claims(rows, reach, ground, record.as_ref()).await;
        let report = self.obey(rows, &mut ground.lock().unwrap(), may_stop);
        let Some(report) = report else { return false };
        match record.filter(|record| self.is_let_in(record)) {
            Some(record) => self.say(rows, &record, report).await,
            None => false,
        }
    }

    fn is_up(&mut self, cloud: &SimulatedCloud) -> bool {
        if !cloud.agent_is_alive(self.server) {
            self.pid = None;
            return false;
        }
        if self.pid.is_none() {
            self.starts += 1;
            self.pid = Some(self.starts);
        }
        if self.slow > 0 {
            self.slow -= 1;
            return false;
        }
        true
    }

    /// Since when its broker has not answered, once that is for long enough.
    fn silent_since(&self, now: Timestamp) -> Option<Timestamp> {
        let silence = self.silence.filter(|_| !self.hears);
        silence.filter(|since| now.duration_since(*since) >= SILENT)
    }

    /// The certificates that its broker uses.
    pub fn installed(&self) -> Vec<InstalledCertificate> {
        self.directory.certificates()
    }

    /// The process died; another may come.
    pub fn died(&mut self) {
        self.pid = None;
    }

    /// Whether the control plane takes its certificate.
    fn is_let_in(&self, record: &ServerRecord) -> bool {
        let identity = self.directory.identity.as_ref();
        identity.is_some_and(|(incarnation, key)| {
            *incarnation == record.server.incarnation && record.enrolled_key.as_ref() == Some(key)
        })
    }

    async fn enrol(&mut self, rows: &Rows, cloud: &SimulatedCloud, record: &ServerRecord) {
        if self.is_let_in(record) {
            return;
        }
        let now = rows.clock.now();
        let start = cloud.server(self.server);
        let start = start.filter(|spec| spec.incarnation == record.server.incarnation);
        let given = start.and_then(|spec| spec.token);
        let (Some(given), Some(known)) = (given, &record.token) else { return };
        if hash_key(&given) != known.hash || known.expires_at <= now {
            return;
        }
        // The same until it is let in.
        let (life, incarnation) = (self.directory.life, record.server.incarnation);
        let key = format!("key of life {life}, incarnation {incarnation}");
        let mut work = rows.store.begin().await.unwrap();
        let taken = servers::set_enrolled(&mut work, self.server, &key, now).await.unwrap();
        if let Some(report) = self.first_report(rows, incarnation).filter(|_| taken) {
            let text = serde_json::to_string(&report).unwrap();
            servers::set_report(&mut work, self.server, &text, now).await.unwrap();
        }
        instances::wake(&mut work, record.server.instance_id, now).await.unwrap();
        work.commit().await.unwrap();
        if taken && !std::mem::take(&mut self.lose_reply) {
            self.directory.identity = Some((incarnation, key));
        }
    }

    /// What one that was told nothing yet sends with its enrolment: requests for the
    /// certificates that it will need. Agents of the release before, here every other one,
    /// send nothing.
    fn first_report(&mut self, rows: &Rows, incarnation: i64) -> Option<Report> {
        if self.directory.desired.is_some() || self.server.0 % 2 == 0 {
            return None;
        }
        let requests = CERTIFICATES.map(|name| {
            let (name, generation) = (name.to_owned(), FIRST_GENERATION);
            let place = (name.clone(), generation);
            let csr = self.directory.requests.entry(place).or_insert_with(|| rows.request());
            CertificateRequest { name, generation, csr: csr.clone() }
        });
        let report = json!({
            "incarnation": incarnation, "agent_version": "simulated", "agent_pid": self.pid,
            "revision": 0, "phase": "preparing", "requests": requests,
        });
        Some(serde_json::from_value(report).unwrap())
    }

    fn fetch(&mut self, record: &ServerRecord) {
        if self.stale > 0 {
            self.stale -= 1;
            return;
        }
        let held = self.directory.desired.as_ref().map(|desired| desired.revision);
        if self.is_let_in(record) && held != Some(record.revision) {
            let text = record.desired.as_deref();
            self.directory.desired = text.map(|text| serde_json::from_str(text).unwrap());
        }
    }

    /// Asks for leave to stop the broker, if that is what the document at hand
    /// says. Where nobody can be asked, there is no leave.
    async fn claims(
        &mut self,
        rows: &Rows,
        reach: &Reach,
        ground: &Arc<Mutex<Ground>>,
        record: Option<&ServerRecord>,
    ) -> bool {
        let Some(record) = record.filter(|record| self.is_let_in(record)) else { return false };
        let Some(held) = self.directory.desired.clone() else { return false };
        let (process, launch) = {
            let mut ground = ground.lock().unwrap();
            let process = ground.look_at_broker(self.server);
            (process, ground.broker(self.server).map(|broker| broker.launch))
        };
        let stops = match held.run {
            Run::Stopped => !matches!(process, Process::Down | Process::Stopping),
            Run::Running => process == Process::Running && launch < Some(held.launch),
        };
        if !stops {
            return false;
        }
        // As the control plane does: something else may be desired by now.
        if held.revision != record.revision {
            return false;
        }
        let (now, instance) = (rows.clock.now(), record.server.instance_id);
        let ticket = tickets::check(&mut rows.store.reader(), instance, self.server, now).await;
        let Ok(ticket) = ticket.unwrap() else { return false };
        let alone = ticket.server_id.is_some();
        let silent = self.silent_since(now).is_some();
        if alone && !reach.may_stop(instance, self.server, silent).await.unwrap().is_go() {
            return false;
        }
        let mut work = rows.store.begin().await.unwrap();
        let claimed = tickets::claim(&mut work, instance, self.server, now).await.unwrap();
        work.commit().await.unwrap();
        let is_wanted = rows.instance(instance).await.is_some_and(|instance| !instance.stopped);
        if claimed.is_ok() && is_wanted && !alone {
            ground.lock().unwrap().violate("a broker was let stop that shall run");
        }
        // A lost answer is asked for again.
        let goes = claimed.is_ok() && !std::mem::take(&mut self.lose_reply);
        if goes && alone {
            ground.lock().unwrap().leaves(self.server, held.run == Run::Stopped);
        }
        goes
    }

    /// Makes the server what the desired state at hand says, and tells of it.
    fn obey(&mut self, rows: &Rows, ground: &mut Ground, may_stop: bool) -> Option<Report> {
        let (desired, now) = (self.directory.desired.clone()?, rows.clock.now());
        let requests = self.directory.requests(rows, &desired);
        self.directory.install(&desired);
        let mut fault = None;
        let process = ground.look_at_broker(self.server);
        let phase = if process != Process::Down {
            // One that stopped to stand still is not waited for.
            if may_stop || process == Process::Stopping {
                ground.stop_broker(self.server);
            }
            phase(ground.look_at_broker(self.server))
        } else if desired.run == Run::Stopped {
            Phase::Stopped
        } else {
            match (&desired.broker, self.directory.is_certified(&desired)) {
                (Some(told), true) => match ground.check_disk(&desired) {
                    Ok(()) => {
                        ground.start_broker(&desired, told);
                        Phase::Starting
                    }
                    Err(reason) => {
                        fault = Some(reason);
                        Phase::Failed
                    }
                },
                _ => Phase::Preparing,
            }
        };
        let broker = ground.broker(self.server).filter(|_| phase == Phase::Running);
        let incarnation =
            self.directory.identity.as_ref().map_or(0, |(incarnation, _)| *incarnation);
        Some(Report {
            incarnation,
            agent_version: "simulated".into(),
            agent_pid: self.pid,
            revision: desired.revision,
            store_epoch: desired.store_epoch,
            phase,
            detail: fault.clone().unwrap_or_default(),
            log_tail: vec![],
            broker_pid: broker.map(|_| 4711),
            restarts: 0,
            config_hash: broker.map(|broker| broker.config_hash.clone()),
            launch: broker.map_or(0, |broker| broker.launch),
            disk_fault: fault,
            waits_for_leave: None,
            wait_is_passing: false,
            loading: None,
            silent_since: self.silent_since(now).filter(|_| phase == Phase::Running),
            requests,
            certificates: self.directory.certificates(),
            integrations: None,
        })
    }

    async fn say(&mut self, rows: &Rows, record: &ServerRecord, report: Report) -> bool {
        let text = serde_json::to_string(&report).unwrap();
        if record.report.as_deref() == Some(&text) {
            self.show_life(rows, record).await;
            return false;
        }
        self.write(rows, record, &text).await;
        if self.said.last() != Some(&text) {
            self.said.push(text);
        }
        true
    }

    /// Says the same again, as every agent does all ten seconds.
    async fn show_life(&self, rows: &Rows, record: &ServerRecord) {
        let now = rows.clock.now();
        let is_due = |at: Timestamp| now.duration_since(at) >= SignedDuration::from_secs(10);
        if record.server.last_seen.is_some_and(is_due) {
            let mut work = rows.store.begin().await.unwrap();
            servers::set_last_seen(&mut work, &[(self.server, now)]).await.unwrap();
            work.commit().await.unwrap();
        }
    }

    async fn write(&self, rows: &Rows, record: &ServerRecord, text: &str) {
        let now = rows.clock.now();
        let mut work = rows.store.begin().await.unwrap();
        servers::set_report(&mut work, self.server, text, now).await.unwrap();
        instances::wake(&mut work, record.server.instance_id, now).await.unwrap();
        work.commit().await.unwrap();
    }

    /// A report from before arrives only now.
    pub async fn repeat_old_report(&self, rows: &Rows, which: usize) {
        let record = servers::find(&mut rows.store.reader(), self.server).await.unwrap();
        let (Some(record), false) = (record, self.said.is_empty()) else { return };
        self.write(rows, &record, &self.said[which % self.said.len()]).await;
    }
}

/// What an agent says of its broker's process.
fn phase(process: Process) -> Phase {
    match process {
        Process::Starting | Process::Recovering | Process::Waiting => Phase::Starting,
        Process::Running => Phase::Running,
        Process::Stopping => Phase::Stopping,
        Process::Down => Phase::Stopped,
    }
}

impl Directory {
    fn requests(&mut self, rows: &Rows, desired: &Desired) -> Vec<CertificateRequest> {
        let wanted = desired.certificates.iter();
        wanted
            .map(|wanted| {
                let place = (wanted.name.clone(), wanted.generation);
                let csr = self.requests.entry(place).or_insert_with(|| rows.request());
                let (name, generation) = (wanted.name.clone(), wanted.generation);
                CertificateRequest { name, generation, csr: csr.clone() }
            })
            .collect()
    }

    /// Puts in place what was issued to a key of ours.
    fn install(&mut self, desired: &Desired) {
        for wanted in &desired.certificates {
            let Some(certificate) = &wanted.certificate else { continue };
            if self.installed.get(&wanted.name) == Some(certificate) {
                continue;
            }
            let place = (wanted.name.clone(), wanted.generation);
            if self.requests.get(&place).is_some_and(|csr| pki::answers(certificate, csr)) {
                self.installed.insert(wanted.name.clone(), certificate.clone());
            }
        }
    }

    fn is_certified(&self, desired: &Desired) -> bool {
        desired.certificates.iter().all(|wanted| self.installed.contains_key(&wanted.name))
    }

    fn certificates(&self) -> Vec<InstalledCertificate> {
        let facts = |(name, pem): (&String, &String)| {
            let Facts { not_before, not_after, .. } = Facts::read(pem).unwrap();
            InstalledCertificate { name: name.clone(), not_before, not_after }
        };
        self.installed.iter().map(facts).collect()
    }
}
