//! `POST /api/ca/sign`.

use super::{EXAMPLE_CSR, EXAMPLE_PEM};
use crate::answer::{self, Pem};
use crate::auth::Changing;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::ca::{self, Signing};
use axum::extract::State;
use wire::ca::Sign;

const FIELDS: [Input; 1] = [Input::text(
    "csr",
    "A certificate request (PKCS #10) in PEM, as openssl and keytool make it. Its key (RSA of \
     2048 bits or more, P-256, P-384 or Ed25519) and its one common name are taken, nothing else",
)
.required()];

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Pem, Failure> {
    Ok(Pem(ca::sign(&access, &api.app, body.ask(signing)).await?))
}

fn signing(fields: &mut Fields) -> Signing {
    Signing { csr: fields.text("csr") }
}

pub fn about() -> About {
    About::new("Sign a client's certificate request; its holder is then `User:<common name>`")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &Sign { csr: EXAMPLE_CSR.into() })
        .text("The certificate, followed by its authority's", answer::PEM, EXAMPLE_PEM)
}
