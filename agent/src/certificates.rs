//! The broker's keys and certificates, in the files its listeners read.
//!
//! Keys are made here and never leave. For each desired certificate there is a
//! key per generation; its request is reported until a certificate for exactly
//! that key arrives. `tls/<name>.pem` always holds a key with its own
//! certificate, and changes in one step.
//!
//! `tls/revoked-serials` only grows: what a control plane has forgotten, because
//! its store was restored from an earlier day, stays revoked here.

use crate::place::Place;
use pki::{Facts, KeyPair};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;
use wire::agent::{
    CERTIFICATES, CertificateRequest, Desired, DesiredCertificate, FIRST_GENERATION,
    InstalledCertificate,
};

#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("{} can't be written: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("no request can be made: {0}")]
    Key(#[from] pki::Error),
    #[error("{0:?} is no name for a certificate")]
    BadName(String),
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Requests that wait for a certificate.
    pub requests: Vec<CertificateRequest>,
    /// What is in place, whether it is what is desired or not.
    pub installed: Vec<InstalledCertificate>,
    /// Names that have no certificate at all yet; the broker can't start.
    pub missing: Vec<String>,
}

/// Brings keys, certificates and trust bundles to what is desired.
pub fn apply(place: &Place, desired: &Desired) -> Result<Applied, CertificateError> {
    apply_revoked(place, &desired.revoked)?;
    apply_trust(place, &desired.trust)?;
    let mut applied = Applied::default();
    for certificate in &desired.certificates {
        check_name(&certificate.name)?;
        if !apply_one(place, certificate)? {
            applied.requests.push(request(place, certificate)?);
        }
        match installed(place, &certificate.name) {
            Some(installed) => applied.installed.push(installed),
            None => applied.missing.push(certificate.name.clone()),
        }
    }
    Ok(applied)
}

/// Requests for the certificates that every new server begins with, by keys that are kept.
pub fn first_requests(place: &Place) -> Result<Vec<CertificateRequest>, CertificateError> {
    let first = |name: &&str| {
        let name = (*name).to_owned();
        request(
            place,
            &DesiredCertificate { name, generation: FIRST_GENERATION, certificate: None },
        )
    };
    CERTIFICATES.iter().map(first).collect()
}

fn apply_revoked(place: &Place, revoked: &[String]) -> Result<(), CertificateError> {
    let path = place.tls("revoked-serials");
    let kept = match fs::read_to_string(&path) {
        Ok(kept) => kept,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        // Written anew without them, it would let them in again.
        Err(source) => return Err(CertificateError::Io { path, source }),
    };
    let desired = revoked.iter().map(String::as_str);
    let serials: BTreeSet<&str> = kept.lines().chain(desired).collect();
    let mut text = String::new();
    for serial in serials {
        text.extend([serial, "\n"]);
    }
    write(path, &text)
}

fn apply_trust(place: &Place, trust: &BTreeMap<String, String>) -> Result<(), CertificateError> {
    for (name, bundle) in trust {
        check_name(name)?;
        write(place.tls(&format!("{name}-ca.pem")), bundle)?;
    }
    Ok(())
}

/// Whether the certificate of this generation is in place.
fn apply_one(place: &Place, desired: &DesiredCertificate) -> Result<bool, CertificateError> {
    let key = key(place, desired)?;
    let Some(chain) = &desired.certificate else { return Ok(false) };
    // A certificate for a key that was lost with an earlier directory is of no
    // use: the present key's request is reported instead.
    if Facts::read(chain).is_none_or(|facts| facts.public_key != key.public_key_der()) {
        return Ok(false);
    }
    let pem = format!("{}{chain}", key.private_key_pem().expose());
    write(place.tls(&format!("{}.pem", desired.name)), &pem)?;
    forget_older(place, desired);
    Ok(true)
}

fn installed(place: &Place, name: &str) -> Option<InstalledCertificate> {
    let pem = fs::read_to_string(place.tls(&format!("{name}.pem"))).ok()?;
    let Facts { not_before, not_after, .. } = Facts::read(&pem)?;
    Some(InstalledCertificate { name: name.to_owned(), not_before, not_after })
}

/// The key of this generation, made if it is not there.
fn key(place: &Place, desired: &DesiredCertificate) -> Result<KeyPair, CertificateError> {
    let path = file(place, desired, "key");
    if let Some(key) = fs::read_to_string(&path).ok().and_then(|pem| KeyPair::from_pem(&pem).ok()) {
        return Ok(key);
    }
    let key = KeyPair::generate();
    write(path, key.private_key_pem().expose())?;
    Ok(key)
}

/// The request is kept, because making it again gives other bytes and would
/// look like a change.
fn request(
    place: &Place,
    desired: &DesiredCertificate,
) -> Result<CertificateRequest, CertificateError> {
    let path = file(place, desired, "csr");
    let key = key(place, desired)?;
    let kept = fs::read_to_string(&path).ok().filter(|csr| {
        pki::Request::parse(csr).is_ok_and(|csr| csr.public_key_der() == key.public_key_der())
    });
    let csr = if let Some(csr) = kept {
        csr
    } else {
        let csr = pki::request(&key, &desired.name)?;
        write(path, &csr)?;
        csr
    };
    Ok(CertificateRequest { name: desired.name.clone(), generation: desired.generation, csr })
}

fn file(place: &Place, desired: &DesiredCertificate, kind: &str) -> PathBuf {
    place.tls(&format!("keys/{}-{}.{kind}", desired.name, desired.generation))
}

/// Keys of earlier generations; failing to remove them harms nobody.
fn forget_older(place: &Place, desired: &DesiredCertificate) {
    let Ok(entries) = fs::read_dir(place.tls("keys")) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let generation = name
            .strip_prefix(&format!("{}-", desired.name))
            .and_then(|rest| rest.split('.').next()?.parse::<i64>().ok());
        if generation.is_some_and(|generation| generation < desired.generation) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Names become file names, so they are checked.
fn check_name(name: &str) -> Result<(), CertificateError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.is_empty() && name.bytes().all(fits) {
        return Ok(());
    }
    Err(CertificateError::BadName(name.into()))
}

/// Only when it differs: the broker reloads a file whose time changes.
fn write(path: PathBuf, text: &str) -> Result<(), CertificateError> {
    if fs::read(&path).is_ok_and(|present| present == text.as_bytes()) {
        return Ok(());
    }
    host::write_private(&path, text.as_bytes())
        .map_err(|source| CertificateError::Io { path, source })
}

#[cfg(test)]
#[path = "certificates_tests.rs"]
mod tests;
