//! Certificate authorities and the certificates they sign. No I/O.
//!
//! An issued certificate says only what we say: from a request nothing but
//! the public key is taken, and from a customer's the name of the user.

mod authority;
mod client_certificate;
mod client_request;
mod cluster_authorities;
mod facts;
mod key;

pub use authority::{Authority, Leaf, Usage};
pub use client_certificate::ClientCertificate;
pub use client_request::{ClientRequest, Refusal};
pub use cluster_authorities::ClusterAuthorities;
pub use facts::Facts;
pub use key::{KeyPair, Request, answers, request};

/// What can go wrong with keys and certificates.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the key is not a PKCS#8 private key in PEM")]
    BadKey,
    #[error("the certificate request is not a valid PEM request signed by its own key")]
    BadRequest,
    #[error("the authority's certificate and key don't belong together or can't be read")]
    BadAuthority,
    #[error("{0:?} can't stand in a certificate as a host name")]
    BadName(String),
    #[error("signing failed: {0}")]
    Sign(#[from] rcgen::Error),
    #[error("a client's certificate can't be made: {0}")]
    Build(String),
}
