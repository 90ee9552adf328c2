//! The task: takes turns that are due, and saves what came of those that have ended.
//!
//! Both are done together a few times a second at most, in one transaction, however many
//! integrations there are. What could not be saved is saved before anything else is taken.

use crate::SendPoints;
use crate::counters::Behind;
use crate::places::{Place, Places};
use crate::turn::{CALL, Ended, LEASE, Taken};
use model::{Clock, Entropy, InstanceId, SignedDuration};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::{DueTurn, Store, integration_turns};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use watch::metrics::heard_instances;

/// Between two transactions.
const TICK: Duration = Duration::from_millis(250);
/// While what is due has no place, or another control plane goes first.
const CROWDED: Duration = Duration::from_secs(1);
/// Looked at this often: a change is in effect by then.
const LOOK: Duration = Duration::from_secs(5);
/// After the store was away.
const AGAIN: Duration = Duration::from_secs(5);
/// What is under way at a stop gets this long to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// A turn that is due for so long is taken by a control plane that does not hear the
/// instance's agents.
const TAKEOVER: SignedDuration = SignedDuration::from_secs(60);
/// Turns that are looked at together.
const MOST: u32 = 1000;

/// Sends the metrics of every instance to its integrations.
#[derive(Clone)]
pub struct Exporter {
    pub(crate) store: Store,
    pub(crate) watch: watch::Context,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) sender: Arc<dyn SendPoints>,
    /// For one call.
    pub(crate) patience: Duration,
}

/// What the task remembers from one look to the next. All of it may be lost.
struct Round {
    exporter: Exporter,
    /// When it began, by [`Clock::elapsed`].
    began: SignedDuration,
    places: Places,
    under_way: JoinSet<()>,
    ended: UnboundedSender<Ended>,
    endings: UnboundedReceiver<Ended>,
    unsaved: Vec<Ended>,
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
        Self { store, watch, clock, entropy, sender, patience: CALL }
    }

    /// Returns once stopped and what was under way has ended or is left to be sent again.
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
                Some(ended) = round.endings.recv() => round.unsaved.push(ended),
            }
            if stop.run_until_cancelled(sleep_until(next)).await.is_none() {
                break;
            }
        }
        round.end().await;
    }
}

impl Round {
    fn new(exporter: Exporter) -> Self {
        let (ended, endings) = unbounded_channel();
        Self {
            began: exporter.clock.elapsed(),
            exporter,
            places: Places::default(),
            under_way: JoinSet::new(),
            ended,
            endings,
            unsaved: Vec::new(),
            behind: Behind::default(),
        }
    }

    /// Saves what has ended and starts what is due, as far as there is room. How long
    /// nothing will be due.
    async fn look(&mut self) -> store::Result<Duration> {
        while self.under_way.try_join_next().is_some() {}
        while let Ok(ended) = self.endings.try_recv() {
            self.unsaved.push(ended);
        }
        let Exporter { store, clock, .. } = &self.exporter;
        let now = clock.now();
        let mut reader = store.reader();
        let due = integration_turns::due(&mut reader, now, MOST).await?;
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

    /// Those that have a place. Who hears the agents goes first.
    fn choose(&self, due: Vec<DueTurn>) -> Vec<(DueTurn, Place)> {
        if due.is_empty() {
            return Vec::new();
        }
        let heard = heard_instances(&self.exporter.watch);
        let is_ours = |it: &DueTurn| heard.contains(&it.instance_id) || it.late >= TAKEOVER;
        let ours = due.into_iter().filter(is_ours);
        let with_place = |it: DueTurn| Some((self.places.take((&it).into())?, it));
        ours.filter_map(with_place).map(|(place, it)| (it, place)).collect()
    }

    async fn save_and_take(
        &mut self,
        chosen: Vec<(DueTurn, Place)>,
    ) -> store::Result<BTreeMap<InstanceId, Vec<Taken>>> {
        let Exporter { store, clock, .. } = &self.exporter;
        let (now, at) = (clock.now(), clock.elapsed());
        let mut work = store.begin().await?;
        let mut saved = Vec::with_capacity(self.unsaved.len());
        for Ended { turn, outcome, .. } in &self.unsaved {
            saved.push(integration_turns::save(&mut work, turn, outcome, now).await?);
        }
        let mut turns: BTreeMap<InstanceId, Vec<Taken>> = BTreeMap::new();
        for (due, place) in chosen {
            if let Some(turn) = integration_turns::take(&mut work, &due, now, LEASE).await? {
                turns.entry(due.instance_id).or_default().push(Taken { turn, place, at });
            }
        }
        work.commit().await?;
        for (ended, saved) in self.unsaved.drain(..).zip(saved) {
            note(&mut self.behind, &ended, saved, at);
        }
        self.behind.tell(at);
        Ok(turns)
    }

    fn start(&mut self, turns: BTreeMap<InstanceId, Vec<Taken>>) {
        let running = self.exporter.clock.elapsed() - self.began;
        for (id, turns) in turns {
            let (exporter, ended) = (self.exporter.clone(), self.ended.clone());
            self.under_way.spawn(async move {
                exporter.take_turns(id, turns, running, ended).await;
            });
        }
    }

    /// What ends soon is saved, so that it is not sent again.
    async fn end(mut self) {
        let ended = async { while self.under_way.join_next().await.is_some() {} };
        let _ = timeout(PATIENCE, ended).await;
        while let Ok(ended) = self.endings.try_recv() {
            self.unsaved.push(ended);
        }
        if !self.unsaved.is_empty()
            && let Err(error) = self.save_and_take(Vec::new()).await
        {
            tracing::warn!(%error, "what was sent last could not be noted, and is sent again");
        }
    }
}

fn note(behind: &mut Behind, ended: &Ended, saved: bool, elapsed: SignedDuration) {
    let Ended { turn, outcome, waiting, .. } = ended;
    let integration = (turn.instance_id, turn.integration.id);
    if !saved {
        behind.forget(integration);
        return;
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
