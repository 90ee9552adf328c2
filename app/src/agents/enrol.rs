//! The first call of a new agent: a certificate for its one-time token, and with it the
//! first desired state.
//!
//! A new agent sends its first report along, with requests for its broker's certificates. It is
//! saved with the enrolment, and the answer waits for the engine to issue them: so a new
//! server needs one call until it can start its broker.

use super::certificate::{issue, parse};
use super::desired::until_changed;
use crate::{App, Error, Result};
use model::agent::Report;
use model::{Secret, ServerId, Timestamp};
use std::time::Duration;
use store::{Run, ServerRecord, hash_key, hash_public_key, instances, servers};
use subtle::ConstantTimeEq;
use tokio::time::Instant;

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
    /// Of an agent that was told nothing yet.
    pub report: Option<Report>,
}

/// An agent that was let in.
#[derive(Debug)]
pub struct Admitted {
    /// PEM.
    pub certificate: String,
    /// Whether its token was used for the first time.
    pub is_first: bool,
}

/// Binds the token to the first key that uses it, and signs for that key. The same key may
/// come again until the token expires: its agent may have died before it saved the answer.
/// Its report is saved at the first call alone: a repeated call proves no more than that
/// the caller has a copy of the first.
pub async fn enrol(app: &App, enrolment: &Enrolment) -> Result<Admitted> {
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
    let is_first = record.server.enrolled_at.is_none();
    if let Some(report) = enrolment.report.as_ref().filter(|_| is_first) {
        let text = serde_json::to_string(report).expect("plain data serialises");
        servers::set_report(&mut work, enrolment.server_id, &text, now).await?;
    }
    instances::wake(&mut work, record.server.instance_id, now).await?;
    work.commit().await?;
    Ok(Admitted { certificate, is_first })
}

/// The desired state of an agent that has just enrolled, once it has a certificate for each
/// of the requests in its first report; after `wait`, whatever there is. None for an agent that
/// sent no report.
pub async fn first_document(
    app: &App,
    enrolment: &Enrolment,
    wait: Duration,
) -> Result<Option<String>> {
    let Some(report) = &enrolment.report else { return Ok(None) };
    let deadline = Instant::now() + wait;
    // Subscribed before the first look, so that no change falls in between.
    let mut changes = app.store().changes();
    loop {
        let found = servers::find(&mut app.store().reader(), enrolment.server_id).await?;
        let record = found.filter(|it| it.server.incarnation == enrolment.incarnation);
        let Some(record) = record else { return Err(BAD_TOKEN) };
        if Instant::now() >= deadline || is_answered(&record, report) {
            return Ok(record.desired);
        }
        let (server, instance) = (enrolment.server_id, record.server.instance_id);
        until_changed(&mut changes, server, instance, deadline).await;
    }
}

/// Whether the desired state has a certificate for each request that the engine answers: it
/// passes those of another generation over.
fn is_answered(record: &ServerRecord, report: &Report) -> bool {
    let Some(desired) = record.last_desired() else { return false };
    let generation = record.server.certificate_generation;
    let mut wanted = report.requests.iter().filter(|request| request.generation == generation);
    wanted.all(|request| {
        let named = desired.certificates.iter().find(|it| it.name == request.name);
        let issued = named.and_then(|it| it.certificate.as_ref());
        // A name that is not in the document is none that the control plane knows.
        named.is_none() || issued.is_some_and(|issued| pki::answers(issued, &request.csr))
    })
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
