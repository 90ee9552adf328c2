//! `GET /api/ca/ca_cert.pem`.

use crate::answer::Pem;
use crate::auth::Seeing;
use crate::error::Failure;
use crate::state::Api;
use app::ca;
use axum::extract::State;

pub async fn handle(State(api): State<Api>, Seeing(access): Seeing) -> Result<Pem, Failure> {
    Ok(Pem(ca::certificate(&access, &api.app).await?))
}
