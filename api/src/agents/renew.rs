//! `POST /agent/v1/renew`.

use super::{AgentCertificate, Document};
use crate::answer::SecretJson;
use crate::error::Failure;
use crate::state::Api;
use app::agents;
use axum::extract::State;
use wire::agent::{Enrolled, Renew};

pub async fn handle(
    State(api): State<Api>,
    AgentCertificate(agent): AgentCertificate,
    Document { value, .. }: Document<Renew>,
) -> Result<SecretJson<Enrolled>, Failure> {
    let certificate = agents::renew(&agent, &api.app, &value.csr).await?;
    Ok(SecretJson(Enrolled { certificate }))
}
