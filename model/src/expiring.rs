//! Certificates of a cluster that near their end, as notice alarms tell of them.

use crate::words;
use serde::{Deserialize, Serialize};

words! {
    /// Which certificates an incident is about. No server has such a name.
    #[derive(Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Expiring {
        /// Of brokers. They renew themselves, so something keeps them from it.
        ServerCertificates = "server-certificates",
        /// What the cluster's certificates are signed by.
        Authorities = "authorities",
        /// What customers had signed. Nobody else can renew them.
        ClientCertificates = "client-certificates",
    }
}
