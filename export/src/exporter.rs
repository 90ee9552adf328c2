//! The task: takes turns that are due, and saves what came of those that are finished. Calls
//! that are made with settings of before a change are given up.
//!
//! Both are done together a few times a second at most, in one transaction, however many
//! integrations there are. What could not be saved is saved before anything else is taken.

use crate::SendPoints;
use crate::counters::Behind;
use crate::parts::Parts;
use crate::places::{OF_ACCOUNT, OF_INSTANCE, PlaceRequest, Places, TurnPlaces};
use crate::slow::Slow;
use crate::turn::{CALLS, FinishedTurn, LEASE, Taken};
use crate::under_way::{UnderWay, key};
use model::{Clock, Entropy, InstanceId, SignedDuration};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::{DueLimits, DueTurn, Run as _, Store, integration_turns};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use watch::metrics::heard_instances;

/// Between two transactions.
const TICK: Duration = Duration::from_millis(250);
/// While what is due has no place, or another control plane goes first.
const CROWDED: Duration = Duration::from_secs(1);
/// Looked at this often, also where no change was heard of: a connection to the database may
/// have been cut meanwhile.
const LOOK: Duration = Duration::from_secs(5);
/// After the store was away.
const AGAIN: Duration = Duration::from_secs(5);
/// What is under way at a stop gets this long.
const PATIENCE: Duration = Duration::from_secs(5);
/// A turn that is due for so long is taken by a control plane that does not hear the
/// instance's agents.
const TAKEOVER: SignedDuration = SignedDuration::from_secs(60);
/// Turns that are looked at together: more of each than have places, since other control
/// planes take some of them.
const LIMITS: DueLimits =
    DueLimits { total: 1000, per_account: 4 * OF_ACCOUNT, per_instance: 2 * OF_INSTANCE };

/// Sends the metrics of every instance to its integrations.
#[derive(Clone)]
pub struct Exporter {
    pub(crate) store: Store,
    pub(crate) watch: watch::Context,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) sender: Arc<dyn SendPoints>,
    /// For all calls of a turn; one with many points has more.
    pub(crate) patience: Duration,
    pub(crate) parts: Arc<Parts>,
}

/// What the task remembers from one look to the next. All of it may be lost.
struct Round {
    exporter: Exporter,
    /// When it began, by [`Clock::elapsed`].
    began: SignedDuration,
    places: Places,
    slow: Slow,
    tasks: JoinSet<()>,
    under_way: UnderWay,
    finished: UnboundedSender<FinishedTurn>,
    finishing: UnboundedReceiver<FinishedTurn>,
    unsaved: Vec<FinishedTurn>,
    behind: Behind,
}

impl Exporter {
    pub fn new(
        store: Store,
        watch: watch::Context,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        sender: Arc<dyn SendPoints>,
    ) -> Self {
        Self { store, watch, clock, entropy, sender, patience: CALLS, parts: Arc::default() }
    }

    /// Returns once stopped and what was under way is over or is left to be sent again.
    pub async fn run(self, stop: CancellationToken) {
        let mut round = Round::new(self);
        loop {
            let next = Instant::now() + TICK;
            let wait = round.look().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "integrations can't be looked at; trying again");
                AGAIN
            });
            tokio::select! {
                () = stop.cancelled() => break,
                () = sleep(wait) => {}
                Some(turn) = round.finishing.recv() => round.note_finished(turn),
                () = round.under_way.changed() => {}
            }
            if stop.run_until_cancelled(sleep_until(next)).await.is_none() {
                break;
            }
        }
        round.stop().await;
    }
}

impl Round {
    fn new(exporter: Exporter) -> Self {
        let (finished, finishing) = unbounded_channel();
        Self {
            began: exporter.clock.elapsed(),
            under_way: UnderWay::new(exporter.store.changes()),
            exporter,
            places: Places::default(),
            slow: Slow::default(),
            tasks: JoinSet::new(),
            finished,
            finishing,
            unsaved: Vec::new(),
            behind: Behind::default(),
        }
    }

    fn note_finished(&mut self, finished: FinishedTurn) {
        self.under_way.finish(&finished.turn);
        if let Some(call) = finished.call {
            self.slow.note(key(&finished.turn), call, self.exporter.clock.elapsed());
        }
        self.unsaved.push(finished);
    }

    /// Saves what is finished and starts what is due, as far as there is room. How long
    /// nothing will be due.
    async fn look(&mut self) -> store::Result<Duration> {
        while self.tasks.try_join_next().is_some() {}
        while let Ok(turn) = self.finishing.try_recv() {
            self.note_finished(turn);
        }
        let Exporter { store, clock, .. } = &self.exporter;
        let now = clock.now();
        let mut reader = store.reader();
        self.under_way.cancel_outdated(&mut reader).await?;
        let due = integration_turns::due(&mut reader, now, LIMITS).await?;
        let is_any_due = !due.is_empty();
        let chosen = self.choose(due);
        if chosen.is_empty() && self.unsaved.is_empty() {
            let wait = integration_turns::next_due(&mut reader, now).await?;
            let wait = wait.and_then(|wait| Duration::try_from(wait).ok()).unwrap_or(LOOK);
            return Ok(if is_any_due { CROWDED } else { wait.min(LOOK) });
        }
        let turns = self.save_and_take(chosen).await?;
        self.start(turns);
        Ok(TICK)
    }

    /// Those that have a place. Instances whose agents are heard here come first: others are
    /// left to the control planes that hear theirs, for a while.
    fn choose(&self, due: Vec<DueTurn>) -> Vec<(DueTurn, TurnPlaces)> {
        if due.is_empty() {
            return Vec::new();
        }
        let heard = heard_instances(&self.exporter.watch);
        let is_ours = |it: &DueTurn| heard.contains(&it.instance_id) || it.late >= TAKEOVER;
        let ours = due.into_iter().filter(is_ours);
        let with_places = |it: DueTurn| {
            let is_slow = self.slow.has((it.instance_id, it.id));
            let places = self.places.take(PlaceRequest::new(&it, is_slow))?;
            Some((it, places))
        };
        ours.filter_map(with_places).collect()
    }

    async fn save_and_take(
        &mut self,
        chosen: Vec<(DueTurn, TurnPlaces)>,
    ) -> store::Result<BTreeMap<InstanceId, Vec<Taken>>> {
        let Exporter { store, clock, .. } = &self.exporter;
        let at = clock.elapsed();
        let mut work = store.begin().await?;
        let now = work.now(clock.now()).await?;
        let mut saved = Vec::with_capacity(self.unsaved.len());
        for FinishedTurn { turn, outcome, .. } in &self.unsaved {
            saved.push(match outcome {
                Some(outcome) => integration_turns::save(&mut work, turn, outcome, now).await?,
                None => false,
            });
        }
        let mut turns: BTreeMap<InstanceId, Vec<Taken>> = BTreeMap::new();
        for (due, places) in chosen {
            if let Some(turn) = integration_turns::take(&mut work, &due, now, LEASE).await? {
                let cancelled = CancellationToken::new();
                let taken = Taken { turn, places, at, cancelled };
                turns.entry(due.instance_id).or_default().push(taken);
            }
        }
        work.commit().await?;
        for (finished, saved) in self.unsaved.drain(..).zip(saved) {
            note(&mut self.behind, &finished, saved, at);
        }
        self.behind.publish(at);
        Ok(turns)
    }

    fn start(&mut self, turns: BTreeMap<InstanceId, Vec<Taken>>) {
        let running = self.exporter.clock.elapsed() - self.began;
        for (id, turns) in turns {
            for Taken { turn, cancelled, .. } in &turns {
                self.under_way.begin(turn, cancelled.clone());
            }
            let (exporter, finished) = (self.exporter.clone(), self.finished.clone());
            self.tasks.spawn(async move {
                exporter.take_turns(id, turns, running, finished).await;
            });
        }
    }

    /// What is over soon is saved, so that it is not sent again.
    async fn stop(mut self) {
        let over = async { while self.tasks.join_next().await.is_some() {} };
        let _ = timeout(PATIENCE, over).await;
        while let Ok(turn) = self.finishing.try_recv() {
            self.note_finished(turn);
        }
        if !self.unsaved.is_empty()
            && let Err(error) = self.save_and_take(Vec::new()).await
        {
            tracing::warn!(%error, "what was sent last could not be noted, and is sent again");
        }
    }
}

fn note(behind: &mut Behind, finished: &FinishedTurn, saved: bool, elapsed: SignedDuration) {
    let FinishedTurn { turn, outcome: Some(outcome), waiting, .. } = finished else {
        return behind.forget(key(&finished.turn));
    };
    let integration = key(turn);
    if !saved {
        return behind.forget(integration);
    }
    if let Some(waiting) = waiting {
        behind.note(integration, *waiting, elapsed);
    }
    if outcome.error != turn.integration.error {
        let (instance, id, system) =
            (turn.instance_id, turn.integration.id, turn.integration.system);
        if outcome.error.is_empty() {
            tracing::info!(%instance, %id, %system, "metrics are sent again");
        } else {
            tracing::warn!(
                %instance, %id, %system, reason = outcome.error, "metrics can't be sent"
            );
        }
    }
}

#[cfg(test)]
mod tests;
