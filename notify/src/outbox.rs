//! Sending what waits in the outbox.
//!
//! A message is taken for the time of a lease, sent without a transaction
//! open, and then struck off, so it goes out at least once whatever dies in
//! between. A control plane that starts again sends at once what it had taken; what another
//! one has taken waits for its lease. A message that fails is tried again with growing pauses
//! until its time is over. A destination that hangs holds its own part of the places
//! (`places.rs`), and nobody else.

mod deliver;
mod gate;
mod places;

use crate::{Mailer, Notify, Outgoing, Sent};
use model::{Clock, Mail, MessageLimits, SignedDuration};
use places::{OF_DESTINATION, Place, Places};
use std::sync::Arc;
use std::time::Duration;
use store::outbox::{self, Failed, LONGEST_PAUSE};
use store::{Change, Due, Message, Store, notifications};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Longer than any attempt takes; what a control plane had taken that never starts
/// again waits this long for another one.
const LEASE: SignedDuration = SignedDuration::from_mins(5);
/// Looked at this often even if no change announces a message.
const LOOK: Duration = Duration::from_secs(30);
/// After the store was away.
const AGAIN: Duration = Duration::from_secs(5);
/// While what is due has no place, for others may be due meanwhile.
const CROWDED: Duration = Duration::from_secs(1);
/// What is under way at a stop gets this long to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends messages of every kind there is.
#[derive(Clone)]
pub struct Outbox {
    /// The same after a crash, and nobody else's while this one runs.
    pub owner: String,
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub mailer: Arc<dyn Mailer>,
    pub notifier: Arc<dyn Notify>,
    pub limits: MessageLimits,
}

impl Outbox {
    /// Returns once stopped and what was under way has ended or is left to
    /// be sent again.
    pub async fn run(self, stop: CancellationToken) {
        let mut changes = self.store.changes();
        let mut under_way = JoinSet::new();
        let places = Places::default();
        if let Err(error) = self.take_up().await {
            tracing::warn!(%error, "what was being sent before waits until others may take it");
        }
        loop {
            while under_way.try_join_next().is_some() {}
            let wait = self.start_due(&mut under_way, &places).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "the outbox can't be read");
                AGAIN
            });
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(wait) => {}
                () = message_written(&mut changes) => {}
                Some(_) = under_way.join_next() => {}
            }
        }
        let ended = async { while under_way.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(PATIENCE, ended).await;
    }

    /// What this owner was sending when it died, nobody sends now.
    async fn take_up(&self) -> store::Result<()> {
        let mut work = self.store.begin().await?;
        outbox::let_go(&mut work, &self.owner, self.clock.now()).await?;
        work.commit().await
    }

    /// Starts what is due, as far as there is room, and says how long nothing
    /// will be.
    async fn start_due(
        &self,
        under_way: &mut JoinSet<()>,
        places: &Places,
    ) -> store::Result<Duration> {
        let wait = outbox::next_due(&mut self.store.reader(), self.clock.now()).await?;
        match wait {
            // With no place left, the end of one that is under way is waited for.
            Some(wait) if !wait.is_positive() && !places.are_all_held() => {}
            Some(wait) if wait.is_positive() => {
                return Ok(Duration::try_from(wait).unwrap_or(LOOK).min(LOOK));
            }
            _ => return Ok(LOOK),
        }
        let taken = self.take(places).await?;
        if taken.is_empty() {
            return Ok(CROWDED);
        }
        for (message, place) in taken {
            let outbox = self.clone();
            under_way.spawn(async move {
                outbox.deliver(&message).await;
                drop(place);
            });
        }
        // Looked at again at once: there may be more.
        Ok(Duration::ZERO)
    }

    /// Takes what is due and has a place.
    async fn take(&self, places: &Places) -> store::Result<Vec<(Message, Place)>> {
        let now = self.clock.now();
        let due = outbox::due(&mut self.store.reader(), OF_DESTINATION, now).await?;
        let with_place = |due: Due| Some((places.take(due.instance, &due.destination)?, due));
        let chosen: Vec<_> = due.into_iter().filter_map(with_place).collect();
        if chosen.is_empty() {
            return Ok(Vec::new());
        }
        let mut work = self.store.begin().await?;
        let given_up = outbox::give_up(&mut work, now).await?;
        for message in &given_up {
            self.note_given_up(&mut work, message).await?;
        }
        let mut taken = Vec::new();
        for (place, due) in chosen {
            let message = outbox::take(&mut work, &due, &self.owner, now, LEASE).await?;
            taken.extend(message.map(|message| (message, place)));
        }
        work.commit().await?;
        for Message { id, .. } in given_up {
            tracing::error!(%id, "a message was given up and never sent: its time is over");
        }
        Ok(taken)
    }

    async fn deliver(&self, message: &Message) {
        let noted = match message.body.as_ref() {
            Err(error) => self.note_failed(message, &error.to_string()).await,
            Ok(body) => match message.kind.as_str() {
                "mail" => self.deliver_mail(message, body.expose()).await,
                notifications::KIND => self.deliver_notification(message, body.expose()).await,
                kind => {
                    self.note_failed(message, &format!("this Castellan can't send a {kind}")).await
                }
            },
        };
        if let Err(error) = noted {
            // It is sent again when the lease is over.
            tracing::warn!(id = %message.id, %error, "what became of it could not be noted");
        }
    }

    async fn deliver_mail(&self, message: &Message, body: &str) -> store::Result<()> {
        let Ok(mail) = serde_json::from_str::<Mail>(body) else {
            return self.note_failed(message, "it is no mail that this Castellan can read").await;
        };
        let outgoing = Outgoing { id: message.id, at: message.created_at, mail: &mail };
        match self.mailer.send(outgoing).await {
            Ok(sent) => {
                log_sent(message, &sent);
                self.note_sent(message).await
            }
            Err(error) => self.note_failed(message, &error.to_string()).await,
        }
    }

    async fn note_sent(&self, message: &Message) -> store::Result<()> {
        let mut work = self.store.begin().await?;
        // If it is somebody else's by now, they say what becomes of it.
        outbox::set_sent(&mut work, message).await?;
        work.commit().await
    }

    async fn note_failed(&self, message: &Message, reason: &str) -> store::Result<()> {
        let mut work = self.store.begin().await?;
        let pause = pause(message.attempts);
        let failed =
            outbox::set_failed(&mut work, message, reason, self.clock.now(), pause).await?;
        work.commit().await?;
        log_failed(message, reason, failed);
        Ok(())
    }
}

fn log_failed(message: &Message, reason: &str, failed: Failed) {
    let (id, attempts) = (message.id, message.attempts);
    match failed {
        Failed::Again(at) => {
            tracing::warn!(%id, attempts, again = %at, reason, "a message was not sent");
        }
        Failed::GivenUp => {
            tracing::error!(%id, attempts, reason, "a message was given up and never sent");
        }
        Failed::NotOurs => {}
    }
}

fn log_sent(message: &Message, sent: &Sent) {
    match sent {
        Sent::Taken => tracing::info!(id = %message.id, "a mail was sent"),
        Sent::Written(path) => tracing::warn!(
            id = %message.id, file = %path.display(),
            "a mail was written to a file, because no mail server is configured"
        ),
    }
}

/// 15 s, 30 s, 1 min … 1 h.
fn pause(attempts: i64) -> SignedDuration {
    let doubled = u32::try_from(attempts.clamp(1, 9) - 1).unwrap_or_default();
    SignedDuration::from_secs(15 << doubled).min(LONGEST_PAUSE)
}

/// Returns when a message may have been written.
async fn message_written(changes: &mut Receiver<Change>) {
    loop {
        match changes.recv().await {
            Ok(Change::Outbox) | Err(RecvError::Lagged(_)) => return,
            Ok(_) => {}
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests;
