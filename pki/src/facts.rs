//! Reading certificates: for which key, and from when to when.

use jiff::Timestamp;
use x509_parser::pem::Pem;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// DER of the subject's public key.
    pub public_key: Vec<u8>,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
}

impl Facts {
    /// Of the first certificate in a PEM text. None if there is none to read.
    pub fn read(pem: &str) -> Option<Self> {
        let pems = Pem::iter_from_buffer(pem.as_bytes()).flatten();
        let first = pems.into_iter().find(|pem| pem.label == "CERTIFICATE")?;
        let certificate = first.parse_x509().ok()?;
        let at = |seconds: i64| Timestamp::from_second(seconds).ok();
        Some(Self {
            public_key: certificate.public_key().raw.to_vec(),
            not_before: at(certificate.validity().not_before.timestamp())?,
            not_after: at(certificate.validity().not_after.timestamp())?,
        })
    }

    /// When two thirds of its life are over.
    pub fn renew_at(&self) -> Timestamp {
        let life = self.not_after.duration_since(self.not_before);
        self.not_before + life * 2 / 3
    }
}
