//! `POST /agent/v1/claim`.

use super::{AgentCertificate, Document};
use crate::error::Failure;
use crate::state::Api;
use app::agents::{self, Held};
use axum::Json;
use axum::extract::State;
use wire::agent::{Claim, Claimed};

pub async fn handle(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    Document { value, .. }: Document<Claim>,
) -> Result<Json<Claimed>, Failure> {
    let held = Held { revision: value.revision, store_epoch: Some(value.store_epoch) };
    Ok(Json(match agents::claim(&agent, &api.app, held, value.silent).await? {
        agents::Claim::Go => Claimed { go: true, reason: String::new(), passing: false },
        agents::Claim::No { why, passing } => Claimed { go: false, reason: why, passing },
    }))
}
