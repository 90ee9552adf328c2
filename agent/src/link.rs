//! The agent's side of the conversation with the control plane.
//!
//! It dials out, enrols once, fetches what is desired and reports what is. It
//! can fail for a day: nothing else in the agent waits for it. A document is on
//! disk before the rest of the agent sees it.

use crate::board::{Board, View};
use crate::certificates;
use crate::connection::{Connection, ConnectionError, News};
use crate::desired::{self, Refusal};
use crate::identity::{self, Identity, IdentityError};
use crate::pace::backoff;
use crate::place::Place;
use crate::start::{self, StartError};
use model::{Clock, Secret};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use wire::agent::{AgentStart, Desired, Enrol, Enrolled, REPORT_SECONDS, Renew, Report};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Changes that come closer together travel in one report.
const REPORT_PAUSE: Duration = Duration::from_millis(50);
/// Between renewals, even if the two clocks are far apart.
const RENEWAL_PAUSE: Duration = Duration::from_mins(1);
/// After a renewal that failed.
const FAILED_RENEWAL_PAUSE: Duration = Duration::from_secs(10);
/// The wall clock may be set, so a far date is looked at again.
const LONGEST_SLEEP: Duration = Duration::from_hours(1);

#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error("a certificate request can't be made: {0}")]
    Request(#[from] pki::Error),
    #[error("the desired state is refused: {0}")]
    Refused(#[from] Refusal),
    #[error("the desired state can't be saved: {0}")]
    Save(io::Error),
    #[error("this agent is not enrolled and has no token; the cloud has to give it one")]
    NoToken,
}

pub struct Link {
    pub place: Place,
    pub clock: Arc<dyn Clock>,
    pub board: Board,
    pub desired: watch::Sender<Option<Desired>>,
    /// The last view that the control plane has taken.
    pub reported: watch::Sender<Option<View>>,
    /// The one in use, for others who have something to tell.
    pub connection: watch::Sender<Option<Connection>>,
    /// The last revision that was heard of where the server's logs go.
    pub integrations: watch::Sender<Option<i64>>,
    pub enrolment: Enrolment,
}

/// What was tried to get a certificate.
#[derive(Default)]
pub struct Enrolment {
    /// The last token that the control plane took or refused.
    spent: Option<Secret>,
    /// The present certificate is not accepted, and there is another token.
    is_due: bool,
    /// Not before then.
    next_renewal: Option<Instant>,
}

impl Link {
    /// Talks for ever.
    pub async fn run(mut self) {
        let mut failures = 0;
        loop {
            self.reported.send_replace(None);
            let ended = self.session().await;
            self.connection.send_replace(None);
            if self.reported.borrow().is_some() {
                failures = 0;
            }
            let Err(error) = ended else { continue };
            failures += 1;
            // The first of a row is news, the rest are not.
            if failures == 1 {
                tracing::warn!(%error, "no word from the control plane; going on alone");
            } else {
                tracing::debug!(%error, failures, "still no word from the control plane");
            }
            if matches!(&error, LinkError::Connection(refused) if refused.is_unknown_agent()) {
                self.consider_enrolment();
            }
            sleep(backoff(FIRST_PAUSE, LONGEST_PAUSE, failures)).await;
        }
    }

    /// One conversation with one identity. Ends well when that is renewed.
    async fn session(&mut self) -> Result<(), LinkError> {
        let start = start::load(&self.place)?;
        let identity = self.identity(&start).await?;
        let connection = Connection::open(&start, Some(&identity))?;
        self.connection.send_replace(Some(connection.clone()));
        tokio::select! {
            ended = self.fetch(&connection, &start) => ended,
            ended = self.send_reports(&connection, &start) => ended,
            () = self.until_renewal(&identity) => {
                let renewed = self.renew(&connection, &start).await;
                // Reports go on while renewals fail.
                let pause = if renewed.is_ok() { RENEWAL_PAUSE } else { FAILED_RENEWAL_PAUSE };
                self.enrolment.next_renewal = Some(Instant::now() + pause);
                renewed
            }
        }
    }

    /// The one we have, or a new one. One that is refused is kept until there
    /// is another: the refusal may be a mistake.
    async fn identity(&mut self, start: &AgentStart) -> Result<Identity, LinkError> {
        let now = self.clock.now();
        let present = Identity::load(&self.place).filter(|identity| identity.is_valid_at(now));
        // It is refused in the handshake, which gives no reason.
        if present.as_ref().is_some_and(|identity| identity.begins_after(now)) {
            self.consider_enrolment();
        }
        let is_due = std::mem::take(&mut self.enrolment.is_due);
        match present {
            Some(identity) if is_due => Ok(self.enrol(start).await.unwrap_or(identity)),
            Some(identity) => Ok(identity),
            None => self.enrol(start).await,
        }
    }

    async fn enrol(&mut self, start: &AgentStart) -> Result<Identity, LinkError> {
        let token = start.token.clone().ok_or(LinkError::NoToken)?;
        let key = identity::next_key(&self.place, start.incarnation)?;
        let request = Enrol {
            server_id: start.server_id,
            incarnation: start.incarnation,
            token: token.clone(),
            csr: pki::request(&key, &name(start))?,
            report: self.first_report(start),
        };
        let answer = Connection::open(start, None)?.enrol(&request).await;
        // Without an answer the token is as good as before.
        if answer.as_ref().map_or_else(ConnectionError::is_unknown_agent, |_| true) {
            self.enrolment.spent = Some(token);
        }
        let Enrolled { certificate, desired } = answer?;
        if let Some(offered) = desired.and_then(|offered| serde_json::from_value(offered).ok()) {
            // One that is refused is offered again, and refused where that is told of.
            let _ = self.take(offered, start);
            // The tasks that start the broker run before the identity is saved.
            yield_now().await;
        }
        let identity = identity::complete(&self.place, &key, &certificate)?;
        tracing::info!("enrolled with the control plane");
        Ok(identity)
    }

    /// What an agent that was told nothing yet has to say: that it is here, and whom its
    /// broker's first certificates are for. The next answer can then bring all that a start
    /// needs.
    fn first_report(&self, start: &AgentStart) -> Option<Report> {
        if self.desired.borrow().is_some() {
            return None;
        }
        let requests = certificates::first_requests(&self.place);
        let requests =
            requests.inspect_err(|error| tracing::warn!(%error, "no first keys")).ok()?;
        Some(Report { requests, ..self.board.view().report(start.incarnation) })
    }

    /// Obeys a document from now on. False if it is the one held already.
    fn take(&self, offered: Desired, start: &AgentStart) -> Result<bool, LinkError> {
        let is_new = desired::accept(self.desired.borrow().as_ref(), &offered, start)?;
        if is_new {
            desired::save(&self.place, &offered).map_err(LinkError::Save)?;
            self.desired.send_replace(Some(offered));
        }
        Ok(is_new)
    }

    /// A certificate that is not accepted is replaced only if the cloud gave a
    /// token that was not used before.
    fn consider_enrolment(&mut self) {
        let token = start::load(&self.place).ok().and_then(|start| start.token);
        self.enrolment.is_due = token.is_some() && token != self.enrolment.spent;
    }

    async fn renew(&self, connection: &Connection, start: &AgentStart) -> Result<(), LinkError> {
        let key = identity::next_key(&self.place, start.incarnation)?;
        let csr = pki::request(&key, &name(start))?;
        let renewed = connection.renew(&Renew { csr }).await?;
        identity::complete(&self.place, &key, &renewed.certificate)?;
        tracing::info!("renewed the agent's certificate");
        Ok(())
    }

    async fn until_renewal(&self, identity: &Identity) {
        if let Some(next) = self.enrolment.next_renewal {
            sleep_until(next).await;
        }
        loop {
            let left = identity.renew_at().duration_since(self.clock.now());
            match Duration::try_from(left) {
                Ok(left) if !left.is_zero() => sleep(left.min(LONGEST_SLEEP)).await,
                _ => return,
            }
        }
    }

    async fn fetch(&self, connection: &Connection, start: &AgentStart) -> Result<(), LinkError> {
        loop {
            let at = |held: &Desired| (held.revision, held.store_epoch);
            let at = self.desired.borrow().as_ref().map_or((0, 0), at);
            let heard = self.integrations.borrow().unwrap_or(0);
            let is_news = match connection.desired(at, heard).await? {
                News::Nothing => true,
                News::Document(offered) => self.take(*offered, start)?,
                News::Integrations(revision) => self.hear_of_integrations(revision),
            };
            if !is_news {
                // A control plane that does not hold the call is not to be hurried.
                sleep(FIRST_PAUSE).await;
            }
        }
    }

    /// False if that is known already.
    fn hear_of_integrations(&self, revision: i64) -> bool {
        self.integrations.send_if_modified(|heard| heard.replace(revision) != Some(revision))
    }

    async fn send_reports(
        &self,
        connection: &Connection,
        start: &AgentStart,
    ) -> Result<(), LinkError> {
        let mut views = self.board.subscribe();
        loop {
            let view = views.borrow_and_update().clone();
            let answer = connection.report(&view.report(start.incarnation)).await?;
            if let Some(answer) = answer {
                self.hear_of_integrations(answer.integrations_revision);
            }
            self.reported.send_replace(Some(view));
            sleep(REPORT_PAUSE).await;
            let _ = timeout(Duration::from_secs(REPORT_SECONDS), views.changed()).await;
        }
    }
}

fn name(start: &AgentStart) -> String {
    format!("server-{}", start.server_id)
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
