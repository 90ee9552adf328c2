//! `POST /agent/v1/enrol`.

use super::Document;
use crate::answer::SecretJson;
use crate::error::Failure;
use crate::state::Api;
use app::agents::{self, Enrolment};
use axum::extract::State;
use wire::agent::{Enrol, Enrolled};

pub async fn handle(
    State(api): State<Api>,
    Document { value, .. }: Document<Enrol>,
) -> Result<SecretJson<Enrolled>, Failure> {
    let enrolment = Enrolment {
        server_id: value.server_id,
        incarnation: value.incarnation,
        token: value.token,
        csr: value.csr,
    };
    let certificate = agents::enrol(&api.app, &enrolment).await?;
    Ok(SecretJson(Enrolled { certificate }))
}
