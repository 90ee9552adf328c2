//! Bodies of `/api/ca`: certificates that clients log in with.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /api/ca/sign`. The answer is the certificate as PEM text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sign {
    /// A certificate request (PKCS #10) in PEM.
    pub csr: String,
}

/// One element of `GET /api/ca/certificates`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Certificate {
    /// In hex.
    pub serial: String,
    /// Whoever holds it is `User:<cn>`.
    pub cn: String,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// Null while it is good.
    pub revoked_at: Option<Timestamp>,
}
