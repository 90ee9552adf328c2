//! A certificate and its key in two files of the operator's, read again when they change.

use super::{Served, TlsError, server};
use model::Secret;
use rustls::ServerConfig;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

/// Why a pair of files can't be served.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    #[error("{} can't be read: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} and {} can't be used: {source}", certificate.display(), key.display())]
    Tls { certificate: PathBuf, key: PathBuf, source: TlsError },
}

pub struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
    /// As they were when they were last looked at, good or not; none: not to be read.
    seen: Option<(String, Secret)>,
    served: watch::Sender<Arc<ServerConfig>>,
}

impl CertificateFiles {
    pub fn open(certificate: &Path, key: &Path) -> Result<Self, FilesError> {
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        let pair = read(&certificate, &key)?;
        let config = parse(&certificate, &key, &pair)?;
        Ok(Self { certificate, key, seen: Some(pair), served: watch::channel(config).0 })
    }

    pub fn served(&self) -> Served {
        self.served.subscribe()
    }

    /// Serves what the files hold now. What can't be used, such as a certificate whose key
    /// is not written yet, changes nothing, and is an error once.
    pub fn look(&mut self) -> Result<(), FilesError> {
        let pair = match read(&self.certificate, &self.key) {
            Ok(pair) => pair,
            Err(error) => return self.seen.take().map_or(Ok(()), |_| Err(error)),
        };
        if self.seen.as_ref() == Some(&pair) {
            return Ok(());
        }
        let parsed = parse(&self.certificate, &self.key, &pair);
        self.seen = Some(pair);
        self.served.send_replace(parsed?);
        tracing::info!(certificate = %self.certificate.display(), "serving the new certificate");
        Ok(())
    }
}

fn read(certificate: &Path, key: &Path) -> Result<(String, Secret), FilesError> {
    let text = |path: &Path| {
        let unreadable = |source| FilesError::Io { path: path.to_owned(), source };
        std::fs::read_to_string(path).map_err(unreadable)
    };
    Ok((text(certificate)?, Secret::new(text(key)?)))
}

fn parse(
    certificate: &Path,
    key: &Path,
    (chain_pem, key_pem): &(String, Secret),
) -> Result<Arc<ServerConfig>, FilesError> {
    server(chain_pem, key_pem).map_err(|source| FilesError::Tls {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        source,
    })
}
