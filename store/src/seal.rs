//! Secrets at rest: sealed with the master key and bound to their row.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use model::{Entropy, Secret};
use sha2::{Digest, Sha256};
use std::fmt;

const NONCE: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("the master key must be 32 bytes in base64")]
    BadKey,
    #[error(
        "the store was sealed with master key {sealed}, but {given} was given; \
         give the key that belongs to this store"
    )]
    OtherKey { sealed: String, given: String },
    #[error("a sealed value does not belong to its row, or was changed")]
    Broken,
}

/// The key that all secrets in the store are sealed with.
#[derive(Clone)]
pub struct MasterKey {
    cipher: XChaCha20Poly1305,
    id: std::sync::Arc<str>,
    entropy: std::sync::Arc<dyn Entropy>,
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({})", self.id)
    }
}

impl MasterKey {
    /// Text for a new master key.
    pub fn generate(entropy: &dyn Entropy) -> Secret {
        let mut bytes = [0; 32];
        entropy.fill(&mut bytes);
        Secret::new(STANDARD.encode(bytes))
    }

    pub fn parse(text: &Secret, entropy: std::sync::Arc<dyn Entropy>) -> Result<Self, SealError> {
        let bytes = STANDARD.decode(text.expose().trim()).map_err(|_| SealError::BadKey)?;
        let cipher = XChaCha20Poly1305::new_from_slice(&bytes).map_err(|_| SealError::BadKey)?;
        // The id is of the key's hash, so it tells nothing of the key.
        let [a, b, c, d, ..] = Sha256::digest(&bytes).0;
        let id = format!("{a:02x}{b:02x}{c:02x}{d:02x}").into();
        Ok(Self { cipher, id, entropy })
    }

    /// Which key this is; stands in front of every sealed value.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Seals `secret` for one place, such as `instances/7/password`.
    pub fn seal(&self, place: &str, secret: &Secret) -> String {
        let mut nonce = [0; NONCE];
        self.entropy.fill(&mut nonce);
        let payload = Payload { msg: secret.expose().as_bytes(), aad: place.as_bytes() };
        let sealed = self
            .cipher
            .encrypt(XNonce::from_slice(&nonce), payload)
            .expect("sealing short texts in memory does not fail");
        let body = STANDARD_NO_PAD.encode([nonce.as_slice(), &sealed].concat());
        format!("1.{}.{body}", self.id)
    }

    /// Opens what was sealed for the same place.
    pub fn open(&self, place: &str, sealed: &str) -> Result<Secret, SealError> {
        let mut parts = sealed.splitn(3, '.');
        let (Some("1"), Some(id), Some(body)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(SealError::Broken);
        };
        if id != &*self.id {
            return Err(SealError::OtherKey { sealed: id.into(), given: self.id.to_string() });
        }
        let bytes = STANDARD_NO_PAD.decode(body).map_err(|_| SealError::Broken)?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE).ok_or(SealError::Broken)?;
        let payload = Payload { msg: sealed, aad: place.as_bytes() };
        let opened = self
            .cipher
            .decrypt(XNonce::from_slice(nonce), payload)
            .map_err(|_| SealError::Broken)?;
        String::from_utf8(opened).map(Secret::new).map_err(|_| SealError::Broken)
    }
}

/// The hash under which a random 256-bit key or token is found again.
pub fn hash_key(key: &Secret) -> String {
    STANDARD_NO_PAD.encode(Sha256::digest(key.expose().as_bytes()))
}

/// The hash by which a public key, DER-encoded, is known in the store.
pub fn hash_public_key(der: &[u8]) -> String {
    hash_key(&Secret::new(STANDARD_NO_PAD.encode(der)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededEntropy;
    use std::sync::Arc;

    fn key(seed: u64) -> MasterKey {
        let entropy = Arc::new(SeededEntropy::new(seed));
        MasterKey::parse(&MasterKey::generate(&*entropy), entropy).unwrap()
    }

    #[test]
    fn a_sealed_secret_opens_only_in_its_place_and_with_its_key() {
        let master = key(1);
        let sealed = master.seal("instances/1/password", &Secret::new("hunter2"));
        assert!(!sealed.contains("hunter2"));
        assert_eq!(master.open("instances/1/password", &sealed).unwrap().expose(), "hunter2");
        assert_eq!(master.open("instances/2/password", &sealed), Err(SealError::Broken));
        assert!(matches!(
            key(2).open("instances/1/password", &sealed),
            Err(SealError::OtherKey { .. })
        ));
        assert_eq!(master.open("instances/1/password", "1.x"), Err(SealError::Broken));
    }

    #[test]
    fn a_short_key_is_refused() {
        let entropy = Arc::new(SeededEntropy::new(1));
        assert_eq!(
            MasterKey::parse(&Secret::new("c2hvcnQ="), entropy).unwrap_err(),
            SealError::BadKey
        );
    }
}
