//! Certificates for simulated agents, signed by the fleet's authority as an enrolment
//! would sign them. Enrolling itself is not what is measured.

use anyhow::{Error, Result};
use model::ServerId;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    PublicKeyData as _,
};
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use store::Installation;

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The only one that agents trust.
    roots: Arc<RootCertStore>,
}

impl Authority {
    pub fn of(installation: &Installation) -> Result<Self> {
        let key = KeyPair::from_pem(installation.fleet_ca_key.expose())?;
        let issuer = Issuer::from_ca_cert_pem(&installation.fleet_ca, key)?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(installation.fleet_ca.as_bytes())?)?;
        Ok(Self { issuer, roots: Arc::new(roots) })
    }

    /// What the agent of a server connects with, and the hash of its key as an enrolment
    /// notes it.
    pub fn tls(&self, server: ServerId, incarnation: i64) -> Result<(Arc<ClientConfig>, String)> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, format!("server-{server}.{incarnation}"));
        params.is_ca = IsCa::ExplicitNoCa;
        params.use_authority_key_identifier_extension = true;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &self.issuer)?;
        let hash = store::hash_public_key(&key.subject_public_key_info());
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(Error::msg)?;
        let mut config = ClientConfig::builder()
            .with_root_certificates(Arc::clone(&self.roots))
            .with_client_auth_cert(vec![certificate.der().clone()], key)?;
        // Room for hundreds of sessions, thousands of times, would be all for nothing.
        config.resumption = Resumption::disabled();
        Ok((Arc::new(config), hash))
    }
}
