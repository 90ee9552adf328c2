//! Turns that one instance's integrations have at the same time: its history is read once,
//! and each integration is called beside the others.

use crate::counters;
use crate::exporter::Exporter;
use crate::gather::{Gathered, View};
use crate::minutes::Batch;
use crate::places::{Place, TurnPlaces};
use crate::schedule::{self, REFUSED_PAUSE};
use crate::settled::Moment;
use futures::future::join_all;
use model::{InstanceId, Integration, SignedDuration, Timestamp};
use ship::{Instance, Outcome, Trouble, Verdict};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use store::{Turn, TurnOutcome};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// A turn is this control plane's for so long; far longer than it takes.
pub const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// For all calls of a turn.
pub const CALLS: Duration = Duration::from_secs(15);
/// The same at most, for a turn with many points.
const MOST_CALLS: Duration = Duration::from_secs(30);
/// A turn has this time for each of its points if that is more than [`CALLS`]: a system that
/// takes 300 points in a call may need 3 seconds for it.
const OF_POINT: Duration = Duration::from_millis(10);
/// What sends ends by itself with what was done; this much later it is given up.
const GRACE: Duration = Duration::from_secs(1);
/// For the store and the history.
const READ: Duration = Duration::from_secs(20);
/// Calls that would begin later might still last when the lease is over.
const LATEST_CALL: SignedDuration = SignedDuration::from_secs(25);
/// Until samples that are on their way are looked for again, or a history that can't be read.
const AGAIN: SignedDuration = SignedDuration::from_secs(10);
/// Minutes in one call.
const MOST_MINUTES: usize = 10;
/// Bytes of a sentence that is kept.
const LONGEST_ERROR: usize = 500;

/// A turn that was taken.
pub struct Taken {
    pub turn: Turn,
    pub places: TurnPlaces,
    /// By [`model::Clock::elapsed`].
    pub at: SignedDuration,
    /// Its settings have changed, or it is gone: nothing more is sent with them.
    pub cancelled: CancellationToken,
}

/// A turn that is over.
pub struct FinishedTurn {
    pub turn: Turn,
    /// None: nothing is to be saved of it.
    pub outcome: Option<TurnOutcome>,
    /// Seconds of metrics that wait; none: that was not found out.
    pub waiting: Option<i64>,
    /// How long it called; none if it did not.
    pub call: Option<SignedDuration>,
    /// No other turn of this integration begins before this one is saved.
    _integration: Place,
}

/// What a turn is to send.
#[derive(PartialEq, Eq)]
struct SendRange {
    minutes: Range<i64>,
    most: usize,
}

impl SendRange {
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

impl Taken {
    /// Others may have the place of its call.
    fn finish(self, outcome: Option<TurnOutcome>, waiting: Option<i64>) -> FinishedTurn {
        let TurnPlaces { integration, call } = self.places;
        drop(call);
        FinishedTurn { turn: self.turn, outcome, waiting, call: None, _integration: integration }
    }
}

impl Exporter {
    /// The turns of one instance. Each that is over is handed on at once.
    pub(crate) async fn take_turns(
        &self,
        id: InstanceId,
        turns: Vec<Taken>,
        running: SignedDuration,
        finished: UnboundedSender<FinishedTurn>,
    ) {
        // The receiver is closed after a stop alone, when nothing can be saved any more.
        let hand_on = |turn: FinishedTurn| _ = finished.send(turn);
        let at = Moment { now: self.clock.now().as_second(), running };
        let (instance, gathered) = match timeout(READ, self.gather(id, &turns, at)).await {
            Ok(Ok(Some(gathered))) => gathered,
            Ok(Ok(None)) => {
                return turns.into_iter().for_each(|taken| hand_on(taken.finish(None, None)));
            }
            Ok(Err(error)) => return put_off(turns, &error.to_string(), hand_on),
            Err(_) => return put_off(turns, "it took too long", hand_on),
        };
        let calls = turns.into_iter().zip(gathered).map(|(taken, gathered)| {
            let instance = &instance;
            async move { hand_on(self.take_turn(taken, instance, &gathered, at.now).await) }
        });
        join_all(calls).await;
    }

    /// What each turn is to send. None if the instance is gone.
    async fn gather(
        &self,
        id: InstanceId,
        turns: &[Taken],
        at: Moment,
    ) -> store::Result<Option<(Instance, Vec<Arc<Gathered>>)>> {
        let Some(view) = View::read(&mut self.store.reader(), id).await? else { return Ok(None) };
        let mut by_range: Vec<(SendRange, Arc<Gathered>)> = Vec::new();
        let mut all = Vec::new();
        for taken in turns {
            let range = SendRange::new(&taken.turn, at.now);
            if let Some((_, gathered)) = by_range.iter().find(|(known, _)| *known == range) {
                all.push(Arc::clone(gathered));
                continue;
            }
            let gathered = view.gather(&self.watch, range.minutes.clone(), range.most, at).await?;
            let gathered = Arc::new(gathered);
            all.push(Arc::clone(&gathered));
            by_range.push((range, gathered));
        }
        Ok(Some((view.instance, all)))
    }

    async fn take_turn(
        &self,
        taken: Taken,
        instance: &Instance,
        gathered: &Gathered,
        now: i64,
    ) -> FinishedTurn {
        let turn = &taken.turn;
        let mut called = None;
        let (outcome, waiting) = match gathered {
            _ if !turn.integration.is_readable() => {
                let trouble = Trouble::refused(Integration::UNREADABLE);
                (Some(self.failed(turn, &trouble, false)), None)
            }
            Gathered::Nothing => (Some(unchanged(turn, self.until_turn(turn))), Some(0)),
            Gathered::Empty { through } => {
                let sent_through = Timestamp::from_second(*through).ok();
                let unchanged = unchanged(turn, SignedDuration::ZERO);
                (Some(TurnOutcome { sent_through, ..unchanged }), None)
            }
            Gathered::Unsettled => (Some(unchanged(turn, AGAIN)), None),
            // It was slept through: by now another control plane may have it.
            Gathered::Points(_) if self.clock.elapsed() - taken.at > LATEST_CALL => (None, None),
            Gathered::Points(batch) => {
                let call = self.send(turn, instance, batch, now);
                let began = self.clock.elapsed();
                let outcome = taken.cancelled.run_until_cancelled(call).await;
                called = Some(self.clock.elapsed() - began);
                let waiting = outcome.as_ref().map(|outcome| {
                    let through = outcome.sent_through.map_or(now, Timestamp::as_second);
                    schedule::settled_through(self.clock.now().as_second()) - through
                });
                (outcome, waiting)
            }
        };
        FinishedTurn { call: called, ..taken.finish(outcome, waiting) }
    }

    async fn send(&self, turn: &Turn, instance: &Instance, batch: &Batch, now: i64) -> TurnOutcome {
        let system = turn.integration.system;
        let before = self.parts.taken(turn, batch);
        let (integration, points) = (&turn.integration, &batch.points[before..]);
        let patience = self.patience_for(points.len());
        let call = self.sender.send(integration, instance, points, self.clock.now(), patience);
        let sent = timeout(patience + GRACE, call).await.unwrap_or_else(|_| too_slow());
        let new = sent.done.min(points.len());
        let dropped = sent.dropped.min(new);
        counters::count_points(system, new - dropped, dropped);
        let done = before + new;
        if new > 0 {
            self.parts.note(turn, batch, done);
        }
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
            Some(trouble) => {
                // Where only the rest of a minute was sent and refused, the next turn sends the whole
                // minute: if the system takes the points before them, these are bad.
                if new == 0 && trouble.verdict == Verdict::Refused {
                    self.parts.forget(turn);
                }
                let failed = self.failed(turn, &trouble, new > 0);
                TurnOutcome { sent_through: sent_through.or(turn.sent_through), ..failed }
            }
        }
    }

    fn patience_for(&self, points: usize) -> Duration {
        let points = u32::try_from(points).unwrap_or(u32::MAX);
        self.patience.max(OF_POINT.saturating_mul(points).min(MOST_CALLS))
    }

    fn failed(&self, turn: &Turn, trouble: &Trouble, is_any_taken: bool) -> TurnOutcome {
        let verdict = trouble.verdict;
        counters::count_failure(turn.integration.system, verdict);
        // What goes on, if slowly, is not left alone for long.
        let failures = if is_any_taken { 1 } else { turn.failures.saturating_add(1) };
        let pause = match verdict {
            Verdict::Refused => REFUSED_PAUSE,
            Verdict::Retry { after } => schedule::pause(failures, after, &*self.entropy),
        };
        let sent_through = turn.sent_through;
        TurnOutcome { pause, sent_through, failures, error: shortened(trouble) }
    }

    fn until_turn(&self, turn: &Turn) -> SignedDuration {
        schedule::until_turn(turn.instance_id, self.clock.now())
    }
}

/// All of them, for a while.
fn put_off(turns: Vec<Taken>, why: &str, hand_on: impl Fn(FinishedTurn)) {
    let count = turns.len();
    tracing::warn!(why, count, "metrics could not be read to be sent; trying again");
    for taken in turns {
        let outcome = unchanged(&taken.turn, AGAIN);
        hand_on(taken.finish(Some(outcome), None));
    }
}

fn unchanged(turn: &Turn, pause: SignedDuration) -> TurnOutcome {
    let error = turn.integration.error.clone();
    TurnOutcome { pause, sent_through: turn.sent_through, failures: turn.failures, error }
}

/// Minutes that could not be sent before the system would take them no more. Of one that did
/// not fail there were none to send.
fn count_dropped(turn: &Turn, now: i64) {
    if turn.failures == 0 {
        return;
    }
    let Some(sent) = turn.sent_through.map(Timestamp::as_second) else { return };
    let system = turn.integration.system;
    let minutes = (schedule::oldest(system, now) - sent) / schedule::MINUTE;
    if minutes > 0 {
        counters::count_dropped(system, minutes);
    }
}

fn too_slow() -> Outcome {
    let sentence = "it did not take what was sent in time";
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
