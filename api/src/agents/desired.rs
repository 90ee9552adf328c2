//! `GET /agent/v1/desired?after=<revision>`: a long poll.

use super::AgentCertificate;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::state::Api;
use app::{Error, agents};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use std::time::Duration;
use wire::agent::LONG_POLL_SECONDS;

pub async fn handle(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    query: Query,
) -> Result<Response, Failure> {
    let after = query.ask(|fields: &mut Fields| fields.integer("after")).checked()?;
    let wait = Duration::from_secs(LONG_POLL_SECONDS);
    let document = tokio::select! {
        document = agents::desired(&agent, &api.app, after, wait) => document?,
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
