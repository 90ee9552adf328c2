//! Certificates of a cluster that near their end, as notice alarms tell of them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which certificates an incident is about. No server has such a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expiring {
    /// Of brokers. They renew themselves, so something keeps them from it.
    ServerCertificates,
    /// What the cluster's certificates are signed by.
    Authorities,
    /// What customers had signed. Nobody else can renew them.
    ClientCertificates,
}

impl Expiring {
    pub const ALL: [Self; 3] =
        [Self::ServerCertificates, Self::Authorities, Self::ClientCertificates];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ServerCertificates => "server-certificates",
            Self::Authorities => "authorities",
            Self::ClientCertificates => "client-certificates",
        }
    }
}

impl fmt::Display for Expiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it is no kind of certificates")]
pub struct NotExpiring;

impl FromStr for Expiring {
    type Err = NotExpiring;

    fn from_str(text: &str) -> Result<Self, NotExpiring> {
        Self::ALL.into_iter().find(|it| it.as_str() == text).ok_or(NotExpiring)
    }
}
