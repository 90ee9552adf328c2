//! Turns that one instance's integrations have at the same time: its history is read once,
//! and each integration is called beside the others.

use crate::counters;
use crate::exporter::Exporter;
use crate::gather::{Found, View};
use crate::minutes::Batch;
use crate::places::Place;
use crate::schedule::{self, REFUSED_PAUSE};
use crate::settled::Moment;
use futures::future::join_all;
use model::{InstanceId, SignedDuration, Timestamp};
use ship::{Instance, Outcome, Trouble, Verdict};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use store::{Turn, TurnOutcome};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;

/// A turn is this control plane's for so long; far longer than it takes.
pub const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// No call lasts longer.
pub const CALL: Duration = Duration::from_secs(15);
/// For the store and the history.
const READ: Duration = Duration::from_secs(20);
/// A call that would begin later might still last when the lease is over.
const LATEST_CALL: SignedDuration = SignedDuration::from_secs(40);
/// Until samples that are on their way are looked for again, or a history that can't be read.
const AGAIN: SignedDuration = SignedDuration::from_secs(10);
/// Minutes in one call.
const MOST_MINUTES: i64 = 10;
/// Bytes of a sentence that is kept.
const LONGEST_ERROR: usize = 500;

/// A turn that was taken.
pub struct Taken {
    pub turn: Turn,
    pub place: Place,
    /// By [`model::Clock::elapsed`].
    pub at: SignedDuration,
}

/// A turn that has ended and is to be saved.
pub struct Ended {
    pub turn: Turn,
    pub outcome: TurnOutcome,
    /// Seconds of metrics that wait; none: that was not found out.
    pub waiting: Option<i64>,
    /// Nobody else has a turn of this integration before this one is saved.
    _place: Place,
}

/// What a turn is to send.
struct Asked {
    minutes: Range<i64>,
    most: i64,
}

impl Asked {
    fn new(turn: &Turn, now: i64) -> Self {
        let sent = turn.sent_through.map(Timestamp::as_second);
        let integration = &turn.integration;
        let made_at = integration.created_at.as_second();
        let first = schedule::first_minute(integration.system, sent, made_at, now);
        // What may have been too much is tried in small parts.
        let most = if turn.failures > 0 { 1 } else { MOST_MINUTES };
        Self { minutes: first..schedule::settled_through(now), most }
    }
}

impl Exporter {
    /// The turns of one instance. Each that comes to an end is handed on at once.
    pub(crate) async fn take_turns(
        &self,
        id: InstanceId,
        turns: Vec<Taken>,
        running: SignedDuration,
        ended: UnboundedSender<Ended>,
    ) {
        let at = Moment { now: self.clock.now().as_second(), running };
        let read = timeout(READ, self.read(id, &turns, at)).await;
        let (instance, found) = match read {
            Ok(Ok(Some(read))) => read,
            Ok(Ok(None)) => return,
            Ok(Err(error)) => return self.put_off(turns, &error.to_string(), &ended),
            Err(_) => return self.put_off(turns, "it took too long", &ended),
        };
        let calls = turns.into_iter().zip(found).map(|(taken, found)| {
            let (instance, ended) = (&instance, &ended);
            async move {
                if let Some(end) = self.take_turn(taken, instance, &found, at.now).await {
                    // It is only closed at a stop, which waits for what it was given.
                    let _ = ended.send(end);
                }
            }
        });
        join_all(calls).await;
    }

    /// What each turn is to send. None if the instance is gone.
    async fn read(
        &self,
        id: InstanceId,
        turns: &[Taken],
        at: Moment,
    ) -> store::Result<Option<(Instance, Vec<Arc<Found>>)>> {
        let Some(view) = View::read(&mut self.store.reader(), id).await? else { return Ok(None) };
        let mut known: Vec<(Range<i64>, i64, Arc<Found>)> = Vec::new();
        let mut found = Vec::new();
        for taken in turns {
            let Asked { minutes, most } = Asked::new(&taken.turn, at.now);
            let same = known.iter().find(|it| it.0 == minutes && it.1 == most);
            if let Some((.., same)) = same {
                found.push(Arc::clone(same));
                continue;
            }
            let gathered = view.gather(&self.watch, minutes.clone(), most, at).await?;
            let gathered = Arc::new(gathered);
            found.push(Arc::clone(&gathered));
            known.push((minutes, most, gathered));
        }
        Ok(Some((view.instance, found)))
    }

    /// None if it was slept through: by now another control plane may have it.
    async fn take_turn(
        &self,
        taken: Taken,
        instance: &Instance,
        found: &Found,
        now: i64,
    ) -> Option<Ended> {
        let Taken { turn, mut place, at } = taken;
        let (outcome, waiting) = match found {
            Found::Nothing => (self.unchanged(&turn, self.until_turn(&turn)), Some(0)),
            Found::Unsettled => (self.unchanged(&turn, AGAIN), None),
            Found::Points(batch) => {
                if self.clock.elapsed() - at > LATEST_CALL {
                    return None;
                }
                let outcome = self.send(&turn, instance, batch, now).await;
                let through = outcome.sent_through.map_or(now, Timestamp::as_second);
                let waiting = schedule::settled_through(self.clock.now().as_second()) - through;
                (outcome, Some(waiting))
            }
        };
        place.end_call();
        Some(Ended { turn, outcome, waiting, _place: place })
    }

    async fn send(&self, turn: &Turn, instance: &Instance, batch: &Batch, now: i64) -> TurnOutcome {
        let system = turn.integration.system;
        let call = self.sender.send(&turn.integration, instance, &batch.points, self.clock.now());
        let sent = timeout(self.patience, call).await.unwrap_or_else(|_| too_slow());
        let done = sent.done.min(batch.points.len());
        let dropped = sent.dropped.min(done);
        counters::count_points(system, done - dropped, dropped);
        let after = self.clock.now().as_second();
        batch.ends(done).for_each(|end| counters::note_delay(after - end));
        let through = batch.through(done);
        if through.is_some() {
            count_dropped(turn, now);
        }
        let sent_through = through.and_then(|end| Timestamp::from_second(end).ok());
        let is_whole = done == batch.points.len();
        match sent.trouble.or_else(|| (!is_whole).then(not_all)) {
            None => {
                let is_behind = through < Some(schedule::settled_through(after));
                let pause = if is_behind { SignedDuration::ZERO } else { self.until_turn(turn) };
                TurnOutcome { pause, sent_through, failures: 0, error: String::new() }
            }
            Some(trouble) => self.failed(turn, trouble, sent_through),
        }
    }

    fn failed(&self, turn: &Turn, trouble: Trouble, sent: Option<Timestamp>) -> TurnOutcome {
        let verdict = trouble.verdict;
        counters::count_failure(turn.integration.system, verdict);
        // What goes on, if slowly, is not left alone for long.
        let failures = if sent.is_some() { 1 } else { turn.failures.saturating_add(1) };
        let pause = match verdict {
            Verdict::Refused => REFUSED_PAUSE,
            Verdict::Retry { after } => schedule::pause(failures, after, &*self.entropy),
        };
        let sent_through = sent.or(turn.sent_through);
        TurnOutcome { pause, sent_through, failures, error: shortened(&trouble) }
    }

    fn put_off(&self, turns: Vec<Taken>, why: &str, ended: &UnboundedSender<Ended>) {
        let count = turns.len();
        tracing::warn!(why, count, "metrics could not be read to be sent; trying again");
        for Taken { turn, mut place, .. } in turns {
            let outcome = self.unchanged(&turn, AGAIN);
            place.end_call();
            let _ = ended.send(Ended { turn, outcome, waiting: None, _place: place });
        }
    }

    fn unchanged(&self, turn: &Turn, pause: SignedDuration) -> TurnOutcome {
        let error = turn.integration.error.clone();
        TurnOutcome { pause, sent_through: turn.sent_through, failures: turn.failures, error }
    }

    fn until_turn(&self, turn: &Turn) -> SignedDuration {
        schedule::until_turn(turn.instance_id, self.clock.now())
    }
}

/// Minutes that were not sent before the system would take them no more.
fn count_dropped(turn: &Turn, now: i64) {
    let Some(sent) = turn.sent_through.map(Timestamp::as_second) else { return };
    let system = turn.integration.system;
    let minutes = (schedule::oldest(system, now) - sent) / schedule::MINUTE;
    if minutes > 0 {
        counters::count_dropped(system, minutes);
    }
}

fn too_slow() -> Outcome {
    let sentence = format!("it did not take what was sent within {} seconds", CALL.as_secs());
    Outcome { trouble: Some(Trouble::retry(None, sentence)), ..Outcome::default() }
}

fn not_all() -> Trouble {
    Trouble::retry(None, "it did not take everything; the rest is sent again")
}

fn shortened(trouble: &Trouble) -> String {
    let mut sentence = trouble.to_string();
    sentence.truncate(sentence.floor_char_boundary(LONGEST_ERROR));
    sentence
}
