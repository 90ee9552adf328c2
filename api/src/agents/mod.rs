//! The agents' listener: one endpoint a file.
//!
//! Callers are our own agents, known by the certificate that TLS verified.

pub mod claim;
pub mod desired;
pub mod enrol;
pub mod metrics;
pub mod renew;
pub mod report;

use crate::body::{self, Taken};
use crate::error::Failure;
use crate::state::{Api, PeerCertificate};
use app::Error;
use app::agents::{self, Agent};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

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
