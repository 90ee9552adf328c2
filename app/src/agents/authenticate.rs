//! From a certificate to the server it names.
//!
//! TLS has verified that the fleet's authority signed the certificate, and that the caller
//! holds its key. That is not enough: a certificate is good while it names the present
//! incarnation of its server and has the enrolled key, which a renewal or an enrolment
//! replaces. So of a server's agent and a thief of its key one alone is let in.

use crate::{App, Error, Result};
use model::{InstanceId, ServerId, Timestamp};
use store::{EnrolledAgent, Run, ServerRecord, hash_public_key, instances, servers};
use x509_parser::prelude::{FromDer, X509Certificate};

pub(super) const UNKNOWN: Error = Error::NotAuthorized(
    "This certificate names no server that exists; the server was enrolled anew or removed",
);
const EXPIRED: Error = Error::NotAuthorized("This certificate has expired");
pub(super) const REPLACED: Error = Error::NotAuthorized(
    "This certificate's key is not the enrolled one; the server's agent gets a token to enrol anew",
);

/// The agent of one server, in one of its incarnations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agent {
    pub(super) server_id: ServerId,
    pub(super) instance_id: InstanceId,
    pub(super) incarnation: i64,
    /// The hash of its public key.
    pub(super) key: String,
    /// Of where its instance's logs go, when it called.
    pub(super) integrations_revision: i64,
}

impl Agent {
    pub fn server_id(&self) -> ServerId {
        self.server_id
    }

    pub(crate) fn instance_id(&self) -> InstanceId {
        self.instance_id
    }

    /// The agent's own row, as long as the agent is the server's.
    pub(super) async fn record(&self, run: &mut impl Run) -> Result<ServerRecord> {
        let found = servers::find(run, self.server_id).await?;
        let record = found.filter(|it| it.server.incarnation == self.incarnation).ok_or(UNKNOWN)?;
        if record.enrolled_key.as_ref() == Some(&self.key) { Ok(record) } else { Err(REPLACED) }
    }

    /// The same without the documents.
    pub(super) async fn enrolled(&self, run: &mut impl Run) -> Result<EnrolledAgent> {
        let enrolled = enrolled(run, self.server_id, self.incarnation).await?;
        if enrolled.key.as_ref() == Some(&self.key) { Ok(enrolled) } else { Err(REPLACED) }
    }
}

/// The agent that a certificate names. The row is looked at on each call, so that a change
/// there revokes the certificate at once.
pub async fn authenticate(app: &App, certificate_der: &[u8]) -> Result<Agent> {
    let Named { server_id, incarnation, key, not_after } = named(certificate_der).ok_or(UNKNOWN)?;
    // A connection may be older than that.
    if app.now() > not_after {
        return Err(EXPIRED);
    }
    let enrolled = enrolled(&mut app.store().reader(), server_id, incarnation).await?;
    if enrolled.key.as_ref() != Some(&key) {
        give_token(app, server_id).await?;
        return Err(REPLACED);
    }
    let EnrolledAgent { instance_id, integrations_revision, .. } = enrolled;
    Ok(Agent { server_id, instance_id, incarnation, key, integrations_revision })
}

/// The caller may be the server's own agent: somebody else has renewed in its name, or it
/// never got the answer to its renewal. A token in the server's directory tells them apart.
async fn give_token(app: &App, id: ServerId) -> Result<()> {
    let found = servers::find_bare(&mut app.store().reader(), id).await?;
    let Some(server) = found else { return Ok(()) };
    tracing::warn!(
        instance = %server.instance_id,
        server = %server.name,
        "an agent came with a key that is not the enrolled one and was refused; the server's \
         directory gets a token. Unless the answer to a renewal was just lost, the key was \
         copied: see castellan server re-enrol"
    );
    // Otherwise a token is on its way already.
    if server.enrolled_at.is_some() {
        let now = app.now();
        let mut work = app.store().begin().await?;
        if servers::void_token(&mut work, server.id, now).await? {
            instances::wake(&mut work, server.instance_id, now).await?;
            work.commit().await?;
        }
    }
    Ok(())
}

async fn enrolled(run: &mut impl Run, id: ServerId, incarnation: i64) -> Result<EnrolledAgent> {
    let found = servers::find_agent(run, id).await?;
    found.filter(|enrolled| enrolled.incarnation == incarnation).ok_or(UNKNOWN)
}

/// The common name of an agent's certificate.
pub(super) fn common_name(server_id: ServerId, incarnation: i64) -> String {
    format!("server-{server_id}.{incarnation}")
}

struct Named {
    server_id: ServerId,
    incarnation: i64,
    key: String,
    not_after: Timestamp,
}

fn named(der: &[u8]) -> Option<Named> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    let (server_id, incarnation) = name.strip_prefix("server-")?.split_once('.')?;
    Some(Named {
        server_id: server_id.parse().ok()?,
        incarnation: incarnation.parse().ok()?,
        key: hash_public_key(certificate.public_key().raw),
        not_after: Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()?,
    })
}
