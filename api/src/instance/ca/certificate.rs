//! `GET /api/ca/ca_cert.pem`.

use crate::answer::{self, Pem};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, ca};
use axum::extract::State;

pub async fn handle(State(api): State<Api>, Seeing(access): Seeing) -> Result<Pem, Failure> {
    Ok(Pem(ca::certificate(&access, &api.app).await?))
}

pub fn about() -> About {
    About::new("Read the certificate that clients trust").needs(Right::SeeInstances).text(
        "A PEM certificate",
        answer::PEM,
        super::EXAMPLE_PEM,
    )
}
