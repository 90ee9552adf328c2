//! From a certificate to the server it names.

use crate::{App, Error, Result};
use model::{InstanceId, ServerId};
use store::{Run, ServerRecord, servers};
use x509_parser::prelude::{FromDer, X509Certificate};

const UNKNOWN: Error = Error::NotAuthorized(
    "This certificate names no server that exists; the server was replaced or removed",
);

/// The agent of one server, in one of its incarnations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agent {
    pub(super) server_id: ServerId,
    pub(super) instance_id: InstanceId,
    pub(super) incarnation: i64,
}

impl Agent {
    pub fn server_id(&self) -> ServerId {
        self.server_id
    }

    pub(crate) fn instance_id(&self) -> InstanceId {
        self.instance_id
    }

    /// The agent's own row, unless the server was replaced or removed.
    pub(super) async fn record(&self, run: &mut impl Run) -> Result<ServerRecord> {
        row(run, self.server_id, self.incarnation).await
    }
}

/// The agent that a certificate names. TLS has verified that the fleet's
/// authority signed it; whether the row is still there is checked on each
/// call, so deleting the row revokes the certificate.
pub async fn authenticate(app: &App, certificate_der: &[u8]) -> Result<Agent> {
    let (server_id, incarnation) = named(certificate_der).ok_or(UNKNOWN)?;
    let record = row(&mut app.store().reader(), server_id, incarnation).await?;
    Ok(Agent { server_id, instance_id: record.server.instance_id, incarnation })
}

async fn row(run: &mut impl Run, id: ServerId, incarnation: i64) -> Result<ServerRecord> {
    let found = servers::find(run, id).await?;
    found.filter(|record| record.server.incarnation == incarnation).ok_or(UNKNOWN)
}

/// The common name of an agent's certificate.
pub(super) fn common_name(server_id: ServerId, incarnation: i64) -> String {
    format!("server-{server_id}.{incarnation}")
}

fn named(der: &[u8]) -> Option<(ServerId, i64)> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    let (server_id, incarnation) = name.strip_prefix("server-")?.split_once('.')?;
    Some((server_id.parse().ok()?, incarnation.parse().ok()?))
}
