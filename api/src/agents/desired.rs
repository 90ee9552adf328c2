//! `GET /agent/v1/desired?after=<revision>&epoch=<store epoch>`: a long poll.

use super::AgentCertificate;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::state::Api;
use app::Error;
use app::agents::{self, Held};
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
