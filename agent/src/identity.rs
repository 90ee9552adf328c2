//! Who the agent is to the control plane: a key made here and a certificate.
//!
//! A key is on disk before the control plane is asked to certify it, so that an answer
//! that was lost can be asked for again with the same key. It waits for one incarnation
//! alone: what was copied along with a stolen identity is of no use to the next. Key and
//! certificate change together, in one file.

use crate::place::Place;
use jiff::Timestamp;
use model::Secret;
use pki::{Facts, KeyPair};
use std::fs;
use std::io;

/// The file of key and certificate.
const PRESENT: &str = "agent.pem";
/// Begins the name of a key that waits for one.
const NEXT: &str = "next";

#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("the agent's identity can't be kept on disk: {0}")]
    Io(#[from] io::Error),
    #[error("the agent's key can't be used: {0}")]
    Key(#[from] pki::Error),
    #[error("the control plane's certificate is not for this agent's key")]
    NotOurs,
}

#[derive(Clone, Debug)]
pub struct Identity {
    /// Key and certificate.
    pem: Secret,
    facts: Facts,
}

impl Identity {
    pub fn load(place: &Place) -> Option<Self> {
        Self::read(&fs::read_to_string(place.identity(PRESENT)).ok()?)
    }

    fn read(pem: &str) -> Option<Self> {
        Some(Self { facts: Facts::read(pem)?, pem: Secret::new(pem) })
    }

    pub fn pem(&self) -> &Secret {
        &self.pem
    }

    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.facts.not_after
    }

    /// Whether it was issued while a clock was ahead: no control plane accepts it yet.
    pub fn begins_after(&self, now: Timestamp) -> bool {
        now < self.facts.not_before
    }

    pub fn renew_at(&self) -> Timestamp {
        self.facts.renew_at()
    }
}

/// A key that waits for its certificate: the one from before, or a new one.
pub fn next_key(place: &Place, incarnation: i64) -> Result<KeyPair, IdentityError> {
    let path = place.identity(&format!("{NEXT}-{incarnation}.key"));
    if let Some(key) = fs::read_to_string(&path).ok().and_then(|pem| KeyPair::from_pem(&pem).ok()) {
        return Ok(key);
    }
    let key = KeyPair::generate();
    host::write_private(&path, key.private_key_pem().expose().as_bytes())?;
    Ok(key)
}

/// The certificate has come: key and certificate are the identity now.
pub fn complete(
    place: &Place,
    key: &KeyPair,
    certificate: &str,
) -> Result<Identity, IdentityError> {
    let facts = Facts::read(certificate).ok_or(IdentityError::NotOurs)?;
    if facts.public_key != key.public_key_der() {
        return Err(IdentityError::NotOurs);
    }
    let pem = Secret::new(format!("{}{certificate}", key.private_key_pem().expose()));
    host::write_private(&place.identity(PRESENT), pem.expose().as_bytes())?;
    for entry in fs::read_dir(place.identity(""))?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(NEXT) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(Identity { pem, facts })
}
