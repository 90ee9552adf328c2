//! A control plane of one screen: the agent protocol over TLS, by hand.

use model::{Clock as _, SeededEntropy, SignedDuration, SystemClock};
use rustls::RootCertStore;
use rustls::server::WebPkiClientVerifier;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;
use wire::agent::{
    CertificateRequest, Claim, Claimed, Desired, DesiredCertificate, Enrol, INTEGRATIONS_HEADER,
    LogIntegrations, Renew, Report, Reported,
};
use wire::metrics::{Sample, Samples, Taken};

#[derive(Default)]
pub struct State {
    pub desired: Option<Desired>,
    pub reports: Vec<Report>,
    pub enrolments: Vec<Enrol>,
    pub renewals: usize,
    pub claims: Vec<Claim>,
    /// What claims are answered; none: it is of a release that knows no claims.
    pub claimed: Option<Claimed>,
    pub samples: Vec<Sample>,
    /// Where logs go; none: it is of a release that sends none.
    pub integrations: Option<LogIntegrations>,
    /// How often that was fetched.
    pub fetches: usize,
    /// Names its memory; nothing of it is ever on disk.
    pub window: String,
    /// Every call that needs a certificate is answered with 403.
    pub refuses: bool,
    /// The answers to so many enrolments are lost.
    pub loses_enrolments: usize,
    /// An enrolment with a report is answered with the desired state and its certificates;
    /// control planes of the release before don't.
    pub issues_at_enrolment: bool,
}

pub struct ControlPlane {
    pub url: String,
    pub authority: pki::Authority,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

impl ControlPlane {
    pub async fn start() -> Self {
        let entropy = SeededEntropy::new(5);
        let authority = pki::Authority::create("fleet", SystemClock.now(), &entropy).unwrap();
        Self::start_with(authority, Arc::default()).await
    }

    /// The same control plane at another address; this one is gone.
    pub async fn move_away(self) -> Self {
        let next = Self::start_with(self.authority.clone(), self.state.clone()).await;
        self.task.abort();
        next
    }

    async fn start_with(authority: pki::Authority, state: Arc<Mutex<State>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let acceptor = TlsAcceptor::from(Arc::new(tls(&authority)));
        let (signer, seen) = (authority.clone(), state.clone());
        let task = tokio::spawn(async move {
            // Ends with this task, so that a moved control plane is really gone.
            let mut calls = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                calls.spawn(serve(acceptor.clone(), stream, signer.clone(), seen.clone()));
            }
        });
        Self { url, authority, state, task }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The first report that fits, now or later.
    pub async fn report(&self, fits: impl Fn(&Report) -> bool) -> Report {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let found = self.state().reports.iter().find(|report| fits(report)).cloned();
            if let Some(report) = found {
                return report;
            }
            let last = self.state().reports.last().cloned();
            assert!(Instant::now() < deadline, "never reported, last {last:?}");
            sleep(Duration::from_millis(5)).await;
        }
    }
}

impl State {
    /// The desired state with a certificate for each request.
    fn issued(&self, authority: &pki::Authority, report: &Report) -> Option<Desired> {
        let issued = |request: &CertificateRequest| DesiredCertificate {
            name: request.name.clone(),
            generation: request.generation,
            certificate: Some(sign(authority, &request.csr)),
        };
        let certificates = report.requests.iter().map(issued).collect();
        let desired = self.desired.clone().filter(|_| self.issues_at_enrolment)?;
        Some(Desired { certificates, ..desired })
    }
}

fn tls(authority: &pki::Authority) -> rustls::ServerConfig {
    let leaf = leaf("control plane", pki::Usage::Server);
    let entropy = SeededEntropy::new(6);
    let (certificate, key) = authority.issue_with_key(&leaf, SystemClock.now(), &entropy).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.certificate.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(clients.allow_unauthenticated().build().unwrap())
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()],
            PrivateKeyDer::from_pem_slice(key.expose().as_bytes()).unwrap(),
        )
        .unwrap()
}

fn leaf(name: &str, usage: pki::Usage) -> pki::Leaf {
    pki::Leaf {
        common_name: name.into(),
        hosts: vec!["127.0.0.1".into()],
        usage,
        valid_for: SignedDuration::from_hours(24 * 30),
    }
}

pub fn sign(authority: &pki::Authority, csr: &str) -> String {
    let request = pki::Request::parse(csr).unwrap();
    let leaf = leaf("server-11", pki::Usage::Both);
    authority.issue(request, &leaf, SystemClock.now(), &SeededEntropy::new(7)).unwrap()
}

async fn serve(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    authority: pki::Authority,
    state: Arc<Mutex<State>>,
) -> Option<()> {
    let stream = acceptor.accept(stream).await.ok()?;
    let is_known = stream.get_ref().1.peer_certificates().is_some();
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await.ok()? == 0 {
                return None;
            }
        }
        let length = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, value)| value.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let Answer { status, header, body: answer } =
            answer(&path, &body, is_known, &authority, &state).await;
        let length = answer.len();
        let head = format!("HTTP/1.1 {status} x\r\n{header}content-length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{answer}").as_bytes()).await.ok()?;
        stream.flush().await.ok()?;
    }
}

struct Answer {
    status: u16,
    /// One that is there at times, with its end of line.
    header: String,
    body: String,
}

impl From<(u16, String)> for Answer {
    fn from((status, body): (u16, String)) -> Self {
        Self { status, header: String::new(), body }
    }
}

async fn answer(
    path: &str,
    body: &[u8],
    is_known: bool,
    authority: &pki::Authority,
    state: &Mutex<State>,
) -> Answer {
    let certificate = |csr: &str| json!({ "certificate": sign(authority, csr) }).to_string();
    if path == "/agent/v1/enrol" {
        let enrol: Enrol = serde_json::from_slice(body).unwrap();
        let mut state = state.lock().unwrap();
        let desired = enrol.report.as_ref().and_then(|report| state.issued(authority, report));
        let answer = json!({ "certificate": sign(authority, &enrol.csr), "desired": desired });
        let answer = answer.to_string();
        state.enrolments.push(enrol);
        if state.loses_enrolments > 0 {
            state.loses_enrolments -= 1;
            return (503, "come again".into()).into();
        }
        return (200, answer).into();
    }
    if !is_known || state.lock().unwrap().refuses {
        return (403, "who are you?".into()).into();
    }
    let answer = match path.split('?').next().unwrap() {
        "/agent/v1/renew" => {
            let renew: Renew = serde_json::from_slice(body).unwrap();
            state.lock().unwrap().renewals += 1;
            (200, certificate(&renew.csr))
        }
        "/agent/v1/report" => {
            let mut state = state.lock().unwrap();
            state.reports.push(serde_json::from_slice(body).unwrap());
            match &state.integrations {
                Some(it) => {
                    let answer = Reported { integrations_revision: it.revision };
                    (200, json!(answer).to_string())
                }
                None => (204, String::new()),
            }
        }
        "/agent/v1/integrations" => {
            let mut state = state.lock().unwrap();
            state.fetches += 1;
            let answer = state.integrations.as_ref().map(|it| json!(it).to_string());
            answer.map_or((404, "Not Found".into()), |answer| (200, answer))
        }
        "/agent/v1/desired" => return desired(path, state).await,
        "/agent/v1/claim" => {
            let mut state = state.lock().unwrap();
            state.claims.push(serde_json::from_slice(body).unwrap());
            let answer = state.claimed.as_ref().map(|answer| json!(answer).to_string());
            answer.map_or((404, "Not Found".into()), |answer| (200, answer))
        }
        "/agent/v1/metrics" => {
            let Samples { samples, .. } = serde_json::from_slice(body).unwrap();
            let mut state = state.lock().unwrap();
            state.samples.extend(samples);
            let taken = Taken { window: state.window.clone(), kept_through: 0 };
            (200, json!(taken).to_string())
        }
        other => panic!("the agent called {other}"),
    };
    answer.into()
}

/// Holds the call for two seconds, as a short long poll.
async fn desired(path: &str, state: &Mutex<State>) -> Answer {
    let known = |name: &str| -> i64 {
        path.split(['?', '&']).find_map(|part| part.strip_prefix(name)).unwrap().parse().unwrap()
    };
    let (after, heard) = (known("after="), known("integrations="));
    for _ in 0..400 {
        let (held, elsewhere) = {
            let state = state.lock().unwrap();
            (state.desired.clone(), state.integrations.as_ref().map(|it| it.revision))
        };
        if let Some(desired) = held.filter(|desired| desired.revision != after) {
            return (200, serde_json::to_string(&desired).unwrap()).into();
        }
        if let Some(revision) = elsewhere.filter(|revision| *revision != heard) {
            let header = format!("{INTEGRATIONS_HEADER}: {revision}\r\n");
            return Answer { status: 204, header, body: String::new() };
        }
        sleep(Duration::from_millis(5)).await;
    }
    (204, String::new()).into()
}
