//! The seven calls of the agent protocol over TLS.
//!
//! Only the pinned fleet CA is trusted; the machine's own authorities never
//! are. Nothing is retried here.

use crate::identity::Identity;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde::de::DeserializeOwned;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use wire::agent::{
    AgentStart, Claim, Claimed, Desired, Enrol, Enrolled, INTEGRATIONS_HEADER, LONG_POLL_SECONDS,
    LogIntegrations, Renew, Report, Reported,
};
use wire::metrics::{Samples, Taken};

/// For every call but the long poll.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("the {0} is not usable PEM")]
    Pem(&'static str),
    #[error("TLS can't be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("the control plane can't be reached: {0}")]
    Unreachable(String),
    #[error("the control plane refuses: {status} {words}")]
    Refused { status: StatusCode, words: String },
    #[error("the control plane's answer can't be read: {0}")]
    BadAnswer(String),
}

impl ConnectionError {
    /// It does not know this agent's certificate, or not any more.
    pub fn is_unknown_agent(&self) -> bool {
        matches!(self, Self::Refused { status, .. }
            if matches!(*status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN))
    }
}

/// What a long poll brings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    Nothing,
    Document(Box<Desired>),
    /// The server's logs go elsewhere, by this revision.
    Integrations(i64),
}

#[derive(Clone, Debug)]
pub struct Connection {
    client: Client,
    base: String,
}

impl Connection {
    pub fn open(start: &AgentStart, identity: Option<&Identity>) -> Result<Self, ConnectionError> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls(start, identity)?)
            .connect_timeout(Duration::from_secs(5))
            .no_proxy()
            .build()
            .map_err(|error| ConnectionError::Unreachable(words(&error)))?;
        Ok(Self { client, base: start.control_plane.trim_end_matches('/').to_owned() })
    }

    pub async fn enrol(&self, body: &Enrol) -> Result<Enrolled, ConnectionError> {
        read(send(self.post("enrol").json(body)).await?).await
    }

    pub async fn renew(&self, body: &Renew) -> Result<Enrolled, ConnectionError> {
        read(send(self.post("renew").json(body)).await?).await
    }

    /// Control planes of the release before answer nothing.
    pub async fn report(&self, body: &Report) -> Result<Option<Reported>, ConnectionError> {
        let response = send(self.post("report").json(body)).await?;
        Ok(read(response).await.ok())
    }

    pub async fn integrations(&self) -> Result<LogIntegrations, ConnectionError> {
        let request = self.client.get(format!("{}/agent/v1/integrations", self.base));
        read(send(request.timeout(PATIENCE)).await?).await
    }

    pub async fn claim(&self, body: &Claim) -> Result<Claimed, ConnectionError> {
        read(send(self.post("claim").json(body)).await?).await
    }

    pub async fn metrics(&self, body: &Samples) -> Result<Taken, ConnectionError> {
        read(send(self.post("metrics").json(body)).await?).await
    }

    /// The next document after the one held, or a revision of where logs go other than the one
    /// heard of, if one of them comes in this poll's time.
    pub async fn desired(&self, held: (i64, i64), heard: i64) -> Result<News, ConnectionError> {
        let (revision, epoch) = held;
        let request = self
            .client
            .get(format!("{}/agent/v1/desired", self.base))
            .query(&[("after", revision), ("epoch", epoch), ("integrations", heard)])
            .timeout(Duration::from_secs(LONG_POLL_SECONDS) + PATIENCE);
        let response = send(request).await?;
        if response.status() == StatusCode::NO_CONTENT {
            let header = response.headers().get(INTEGRATIONS_HEADER);
            let revision = header.and_then(|it| it.to_str().ok()?.parse().ok());
            return Ok(revision.map_or(News::Nothing, News::Integrations));
        }
        read(response).await.map(|desired| News::Document(Box::new(desired)))
    }

    fn post(&self, call: &str) -> RequestBuilder {
        self.client.post(format!("{}/agent/v1/{call}", self.base)).timeout(PATIENCE)
    }
}

async fn send(request: RequestBuilder) -> Result<Response, ConnectionError> {
    let response =
        request.send().await.map_err(|error| ConnectionError::Unreachable(words(&error)))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = response.text().await.unwrap_or_default();
    Err(ConnectionError::Refused { status, words: body.chars().take(300).collect() })
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T, ConnectionError> {
    response.json().await.map_err(|error| ConnectionError::BadAnswer(words(&error)))
}

/// reqwest keeps the reason in its sources.
fn words(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    match error.source() {
        Some(_) => format!("{deepest}"),
        None => error.to_string(),
    }
}

fn tls(start: &AgentStart, identity: Option<&Identity>) -> Result<ClientConfig, ConnectionError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(start.fleet_ca.as_bytes()) {
        roots.add(certificate.map_err(|_| ConnectionError::Pem("fleet CA"))?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let Some(identity) = identity else { return Ok(config.with_no_client_auth()) };
    let pem = identity.pem().expose().as_bytes();
    let bad = |_| ConnectionError::Pem("agent's identity");
    let chain = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(bad)?;
    let key = PrivateKeyDer::from_pem_slice(pem).map_err(bad)?;
    Ok(config.with_client_auth_cert(chain, key)?)
}
