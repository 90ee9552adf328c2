//! Throw-away certificates. They guard nothing: the broker is reachable on this machine
//! for some seconds and holds no data.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::Path;

/// Fills `tls/` of a server's directory. Returns key with certificate, and the
/// authority that signed it.
pub fn write(directory: &Path, address: IpAddr) -> io::Result<(String, String)> {
    let (identity, authority) = make(address).map_err(io::Error::other)?;
    let tls = directory.join("tls");
    fs::create_dir(&tls)?;
    for name in ["internal", "server"] {
        host::write_private(&tls.join(format!("{name}.pem")), identity.as_bytes())?;
    }
    for name in ["internal-ca", "clients-ca"] {
        host::write_atomic(&tls.join(format!("{name}.pem")), authority.as_bytes())?;
    }
    Ok((identity, authority))
}

/// Key with certificate, and the authority that signed it.
fn make(address: IpAddr) -> Result<(String, String), rcgen::Error> {
    let mut authority = CertificateParams::new(vec![])?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    let mut leaf = CertificateParams::new(vec![])?;
    leaf.subject_alt_names = vec![SanType::IpAddress(address)];
    let key = KeyPair::generate()?;
    let certificate = leaf.signed_by(&key, &authority)?;
    Ok((key.serialize_pem() + &certificate.pem(), authority.pem()))
}
