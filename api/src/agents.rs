//! The agents' listener.
//!
//! Callers are our own agents, known by the certificate that TLS verified.

pub mod metrics;

use crate::answer::{Answer, SecretJson};
use crate::body::{self, Fields, Query, Taken};
use app::Error;
use app::agents::{self, Admitted, Agent, Enrolment, Held};
use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use std::time::Duration;
use web::error::Failure;
use web::state::{Api, PeerCertificate};
use wire::agent::{
    Claim, Claimed, Enrol, Enrolled, FIRST_DOCUMENT_SECONDS, LONG_POLL_SECONDS, Renew, Report,
};

/// The agent whose certificate the connection was made with.
pub struct AgentCertificate(pub Agent);

impl FromRequestParts<Api> for AgentCertificate {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Failure> {
        let Some(PeerCertificate(Some(der))) = parts.extensions.get::<PeerCertificate>() else {
            return Err(Error::NotAuthorized("Present the certificate of an agent").into());
        };
        Ok(Self(agents::authenticate(&api.app, der).await?))
    }
}

/// A JSON document of the agent protocol, with the text it was read from.
pub struct Document<T> {
    pub value: T,
    pub text: String,
}

impl<T: DeserializeOwned> FromRequest<Api> for Document<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Failure> {
        let Taken { bytes, .. } = body::take(request, api).await?;
        let text = String::from_utf8(bytes.into())
            .map_err(|_| Error::Unreadable("The body is not UTF-8 text".into()))?;
        let value = serde_json::from_str(&text)
            .map_err(|error| Error::Unreadable(format!("The document can't be read: {error}")))?;
        Ok(Self { value, text })
    }
}

/// `POST /agent/v1/enrol`.
pub async fn enrol(
    State(api): State<Api>,
    Document { value, .. }: Document<Enrol>,
) -> Result<SecretJson<Enrolled>, Failure> {
    let enrolment = Enrolment {
        server_id: value.server_id,
        incarnation: value.incarnation,
        token: value.token,
        csr: value.csr,
        report: value.report,
    };
    let Admitted { certificate, is_first } = agents::enrol(&api.app, &enrolment).await?;
    if !is_first {
        return Ok(SecretJson(Enrolled { certificate, desired: None }));
    }
    let wait = Duration::from_secs(FIRST_DOCUMENT_SECONDS);
    let document = tokio::select! {
        document = agents::first_document(&api.app, &enrolment, wait) => document?,
        // The agent has what it came for, and asks for the rest again.
        () = api.options.stopping.cancelled() => None,
    };
    let desired = document.and_then(|text| serde_json::from_str(&text).ok());
    Ok(SecretJson(Enrolled { certificate, desired }))
}

/// `POST /agent/v1/renew`.
pub async fn renew(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    Document { value, .. }: Document<Renew>,
) -> Result<SecretJson<Enrolled>, Failure> {
    let certificate = agents::renew(&agent, &api.app, &value.csr).await?;
    Ok(SecretJson(Enrolled { certificate, desired: None }))
}

/// `GET /agent/v1/desired?after=<revision>&epoch=<store epoch>`: a long poll.
pub async fn desired(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    query: Query,
) -> Result<Response, Failure> {
    let held = query.ask(held).checked()?;
    let wait = Duration::from_secs(LONG_POLL_SECONDS);
    let document = tokio::select! {
        document = agents::desired(&agent, &api.app, held, wait) => document?,
        () = api.options.stopping.cancelled() => return Err(Error::Stopping.into()),
    };
    Ok(match document {
        Some(text) => {
            let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
            (headers, text).into_response()
        }
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Agents of the release before say only `after`.
fn held(fields: &mut Fields) -> Option<Held> {
    let store_epoch = fields.integer("epoch");
    fields.integer("after").map(|revision| Held { revision, store_epoch })
}

/// `POST /agent/v1/report`.
///
/// The text is kept as sent: fields that only a newer engine knows stay in it.
pub async fn report(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    document: Document<Report>,
) -> Result<StatusCode, Failure> {
    agents::report(&agent, &api.app, &document.text).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /agent/v1/claim`.
pub async fn claim(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    Document { value, .. }: Document<Claim>,
) -> Answer<Claimed> {
    let held = Held { revision: value.revision, store_epoch: Some(value.store_epoch) };
    Ok(Json(match agents::claim(&agent, &api.app, held, value.silent).await? {
        agents::Claim::Go => Claimed { go: true, reason: String::new(), passing: false },
        agents::Claim::No { why, passing } => Claimed { go: false, reason: why, passing },
    }))
}
