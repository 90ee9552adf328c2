//! `POST /agent/v1/report`.

use super::{AgentCertificate, Document};
use crate::error::Failure;
use crate::state::Api;
use app::agents;
use axum::extract::State;
use axum::http::StatusCode;
use wire::agent::Report;

/// The text is kept as sent: fields that only a newer engine knows stay in it.
pub async fn handle(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    document: Document<Report>,
) -> Result<StatusCode, Failure> {
    agents::report(&agent, &api.app, &document.text).await?;
    Ok(StatusCode::NO_CONTENT)
}
