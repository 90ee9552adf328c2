//! The authorities of an instance, and what they have signed for its clients.

use crate::about::{About, Input};
use crate::answer::{self, Answer, Pem};
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields};
use crate::path::SerialPath;
use app::Right;
use app::ca::{self, Signing};
use axum::Json;
use axum::http::StatusCode;
use model::Timestamp;
use web::error::Failure;
use wire::ca::{Certificate, Sign};

const EXAMPLE_PEM: &str = "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n";

/// One that works; nobody has its key.
const EXAMPLE_CSR: &str = concat!(
    "-----BEGIN CERTIFICATE REQUEST-----\n",
    "MIHLMHMCAQAwETEPMA0GA1UEAwwGb3JkZXJzMFkwEwYHKoZIzj0CAQYIKoZIzj0D\n",
    "AQcDQgAE6odcEuJQBVwNh1b61der92w2NSlLvwCeXyIEIMv4CyDsAj/2+pQGjdUy\n",
    "Zlv8Qf5v8VAGIjJ7nQXopHokyUiwUqAAMAoGCCqGSM49BAMCA0gAMEUCIQDxj5oY\n",
    "devtlwJ5JAXNXnSfyvLzmpbitteJDhkgkXfrPQIgfdMLMcNr1fPzWOYcJwQ+YGts\n",
    "diIYYgcyjT++Fu7nEwE=\n",
    "-----END CERTIFICATE REQUEST-----\n",
);

/// `GET /api/ca/ca_cert.pem`.
pub async fn certificate(Seeing(access, app): Seeing) -> Result<Pem, Failure> {
    Ok(Pem(ca::certificate(&access, &app).await?))
}

pub fn about_certificate() -> About {
    About::new("Read the certificate that clients trust").needs(Right::SeeInstances).text(
        "A PEM certificate",
        answer::PEM,
        EXAMPLE_PEM,
    )
}

const FIELDS: [Input; 1] = [Input::text(
    "csr",
    "A certificate request (PKCS #10) in PEM, as openssl and keytool make it. Its key (RSA of \
     2048 bits or more, P-256, P-384 or Ed25519) and its one common name are taken, nothing else",
)
.required()];

/// `POST /api/ca/sign`.
pub async fn sign(Changing(access, app): Changing, body: Body) -> Result<Pem, Failure> {
    Ok(Pem(ca::sign(&access, &app, body.ask(signing)).await?))
}

fn signing(fields: &mut Fields) -> Signing {
    Signing { csr: fields.text("csr") }
}

pub fn about_sign() -> About {
    About::new("Sign a client's certificate request; its holder is then `User:<common name>`")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &Sign { csr: EXAMPLE_CSR.into() })
        .text("The certificate, followed by its authority's", answer::PEM, EXAMPLE_PEM)
}

/// `GET /api/ca/certificates`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<Certificate>> {
    let certificates = ca::list(&access, &app).await?;
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

pub fn about_list() -> About {
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

/// `DELETE /api/ca/certificates/<serial>`.
pub async fn revoke(
    Changing(access, app): Changing,
    SerialPath(serial): SerialPath,
) -> Result<StatusCode, Failure> {
    ca::revoke(&access, &app, serial).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_revoke() -> About {
    About::new("Revoke a client's certificate; brokers refuse it within seconds, for good")
        .needs(Right::ChangeInstances)
}
