//! Calls of `/api/instances/<ID>/ca`.

use crate::{Client, Result};
use wire::ca::{Certificate, Sign};

impl Client {
    /// The certificate for a request, as PEM, followed by its authority's.
    pub async fn sign_certificate(&self, id: i64, csr: &str) -> Result<String> {
        let sign = Sign { csr: csr.into() };
        self.call.send_for_text(&format!("api/instances/{id}/ca/sign"), &sign).await
    }

    pub async fn certificates(&self, id: i64) -> Result<Vec<Certificate>> {
        self.call.get(&format!("api/instances/{id}/ca/certificates")).await
    }

    pub async fn revoke_certificate(&self, id: i64, serial: &str) -> Result<()> {
        // It becomes a segment of a path; whatever else it holds is no serial.
        let serial: String = serial.chars().filter(char::is_ascii_alphanumeric).collect();
        self.call.delete(&format!("api/instances/{id}/ca/certificates/{serial}")).await
    }
}
