//! The first call of a new agent: a certificate for its one-time token.

use super::certificate::{issue, parse};
use crate::{App, Error, Result};
use model::{Secret, ServerId, Timestamp};
use store::{Run, ServerRecord, hash_key, hash_public_key, instances, servers};
use subtle::ConstantTimeEq;

/// One answer for every wrong token, so that nothing is learnt from trying.
const BAD_TOKEN: Error = Error::NotAuthorized(
    "The enrolment token is wrong or has expired; the control plane gives a new one",
);
const USED: Error = Error::NotAuthorized("The enrolment token was used with another key already");

/// What an agent shows to be let in.
#[derive(Debug)]
pub struct Enrolment {
    pub server_id: ServerId,
    pub incarnation: i64,
    pub token: Secret,
    /// PEM. Only the public key is taken from it.
    pub csr: String,
}

/// Binds the token to the first key that uses it, and signs for that key. The
/// same key may come again until the token expires: its agent may have died
/// before it saved the answer.
pub async fn enrol(app: &App, enrolment: &Enrolment) -> Result<String> {
    let now = app.now();
    // Looked at before anything is locked or signed: anybody can call this.
    let_in(&mut app.store().reader(), enrolment, now).await?;
    let request = parse(&enrolment.csr)?;
    let key = hash_public_key(&request.public_key_der());
    let certificate = issue(app, request, enrolment.server_id, enrolment.incarnation)?;

    let mut work = app.store().begin().await?;
    let record = let_in(&mut work, enrolment, now).await?;
    if !servers::set_enrolled(&mut work, enrolment.server_id, &key, now).await? {
        return Err(USED);
    }
    instances::wake(&mut work, record.server.instance_id, now).await?;
    work.commit().await?;
    Ok(certificate)
}

async fn let_in(run: &mut impl Run, enrolment: &Enrolment, now: Timestamp) -> Result<ServerRecord> {
    let found = servers::find(run, enrolment.server_id).await?;
    found.filter(|record| fits(record, enrolment, now)).ok_or(BAD_TOKEN)
}

fn fits(record: &ServerRecord, enrolment: &Enrolment, now: Timestamp) -> bool {
    let Some(token) = &record.token else { return false };
    let given = hash_key(&enrolment.token);
    let matches: bool = given.as_bytes().ct_eq(token.hash.as_bytes()).into();
    matches && now < token.expires_at && record.server.incarnation == enrolment.incarnation
}
