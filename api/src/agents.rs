//! The agents' listener.
//!
//! Callers are our own agents, known by the certificate that TLS verified.

pub mod metrics;

use crate::answer::{Answer, SecretJson};
use crate::body::{self, Fields, Query, Taken};
use app::Error;
use app::agents::{self, Admitted, Agent, Enrolment, Held, Known, News};
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
    Claim, Claimed, Enrol, Enrolled, FIRST_DOCUMENT_SECONDS, INTEGRATIONS_HEADER,
    LONG_POLL_SECONDS, LogIntegration, LogIntegrations, Renew, Report, Reported,
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
    let known = query.ask(known).checked()?;
    let wait = Duration::from_secs(LONG_POLL_SECONDS);
    let news = tokio::select! {
        news = agents::desired(&agent, &api.app, known, wait) => news?,
        () = api.options.stopping.cancelled() => return Err(Error::Stopping.into()),
    };
    Ok(match news {
        Some(News::Document(text)) => {
            let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
            (headers, text).into_response()
        }
        Some(News::Integrations(revision)) => {
            let header = (INTEGRATIONS_HEADER, revision.to_string());
            (StatusCode::NO_CONTENT, [header]).into_response()
        }
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Agents of releases before say only `after`, or that and `epoch`.
fn known(fields: &mut Fields) -> Known {
    let store_epoch = fields.integer("epoch");
    let document = fields.integer("after").map(|revision| Held { revision, store_epoch });
    Known { document, integrations: fields.integer("integrations") }
}

/// `GET /agent/v1/integrations`.
pub async fn integrations(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
) -> Result<SecretJson<LogIntegrations>, Failure> {
    let found = agents::log_integrations(&agent, &api.app).await?;
    let integrations = found.integrations.into_iter().map(|it| LogIntegration {
        id: it.integration.id,
        version: it.version,
        system: it.integration.system.to_string(),
        config: it.integration.config,
    });
    Ok(SecretJson(LogIntegrations {
        revision: found.revision,
        instance_id: found.instance_id,
        instance_name: found.instance_name.to_string(),
        tags: found.tags.as_slice().to_vec(),
        server_name: found.server_name,
        hostname: found.hostname,
        integrations: integrations.collect(),
        outbound: found.outbound,
    }))
}

/// `POST /agent/v1/report`.
///
/// The text is kept as sent: fields that only a newer engine knows stay in it.
pub async fn report(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    Document { value, text }: Document<Report>,
) -> Answer<Reported> {
    let integrations_revision = agents::report(&agent, &api.app, &value, &text).await?;
    Ok(Json(Reported { integrations_revision }))
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
