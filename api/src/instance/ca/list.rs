//! `GET /api/ca/certificates`.

use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, ca};
use axum::Json;
use axum::extract::State;
use model::Timestamp;
use wire::ca::Certificate;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<Certificate>>, Failure> {
    let certificates = ca::list(&access, &api.app).await?;
    Ok(Json(certificates.into_iter().map(document).collect()))
}

fn document(certificate: model::Certificate) -> Certificate {
    Certificate {
        serial: certificate.serial.to_string(),
        cn: certificate.cn.into(),
        issued_at: certificate.issued_at,
        expires_at: certificate.expires_at,
        revoked_at: certificate.revoked_at,
    }
}

pub fn about() -> About {
    let example = Certificate {
        serial: "4f1c22d0a3b94e5f8a6d7c0b1e2f3a4b".into(),
        cn: "orders".into(),
        issued_at: Timestamp::constant(1_794_744_000, 0),
        expires_at: Timestamp::constant(1_829_044_800, 0),
        revoked_at: Some(Timestamp::constant(1_794_830_400, 0)),
    };
    About::new("List the certificates that were signed for clients")
        .needs(Right::SeeInstances)
        .list("All of them, oldest first, also those that are revoked or have expired", example)
}
