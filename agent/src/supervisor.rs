//! Keeps one broker as it should be: started, restarted, or stopped.
//!
//! It kills a broker only if that was to stop and can't react, never restarts one for
//! a new configuration by itself but for a higher launch, never starts a second one
//! (whatever runs is adopted first), and stops one as desired only with the control
//! plane's leave. One that still starts is never stopped for a restart: it may be in
//! recovery. Nor is one that could not be started again. The JVM that follows it is warmed up
//! (`successor.rs`) before one is stopped for a restart, and on hosts that keep one on standby
//! beside every broker that has run well. Every wait and failure is on the board in words.

mod leaving;

use crate::board::{Board, Status};
use crate::broker::{Broker, For};
use crate::disk;
use crate::ending::Ending;
use crate::goal::{Goal, Orders};
use crate::launcher::{Launch, Launcher};
use crate::leave::Leave;
use crate::log_tail::Marks;
use crate::own_user;
use crate::pace::Pace;
use crate::place::Place;
use crate::prepare::{self, PrepareError, Prepared};
use crate::start_slots::StartSlots;
use crate::successor::{self, Successor};
use crate::unresponsive_shutdown::UnresponsiveShutdown;
use crate::warmth::Warmth;
use host::{Exit, Slot};
use jiff::Timestamp;
use leaving::{Leaving, Need, Rehearsal, end_of, end_of_rehearsal};
use model::Clock;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use wire::agent::Phase;

pub struct Supervisor {
    pub place: Place,
    pub launcher: Arc<dyn Launcher>,
    pub leave: Arc<dyn Leave>,
    pub clock: Arc<dyn Clock>,
    pub pace: Pace,
    pub start_slots: StartSlots,
    /// Ours while the broker starts.
    pub start_slot: Option<Slot>,
    pub board: Board,
    pub goal: watch::Receiver<Goal>,
    /// True: stop the broker and end.
    pub shutdown: watch::Receiver<bool>,
    /// Starts since the broker last ran well.
    pub restarts: u32,
    /// The broker was stopped to be started again: the others of its cluster
    /// wait for it, so it takes no turns with other clusters.
    pub returns: bool,
    /// The JVM that is to follow the broker, warmed up.
    pub successor: Option<Successor>,
    pub warmth: Warmth,
    /// The last broker ended before it had started. Whatever the reason, no warm JVM is to
    /// be a part of it again.
    pub cold_next: bool,
}

impl Supervisor {
    /// Returns after a shutdown, with the broker ended.
    pub async fn run(mut self) {
        successor::end_leftovers(&self.place);
        let mut broker = Broker::adopt(&self.place);
        loop {
            let Some(present) = broker.take() else {
                broker = self.bring_up().await;
                if broker.is_none() {
                    return;
                }
                continue;
            };
            self.attend(present).await;
        }
    }

    /// Waits until the goal is a running broker, and starts it. None: shutdown.
    async fn bring_up(&mut self) -> Option<Broker> {
        loop {
            if *self.shutdown.borrow() {
                self.successor = None;
                self.board.set_status(Status::new(Phase::Stopped, "stopped with its agent"));
                return None;
            }
            let goal = self.goal.borrow_and_update().clone();
            self.end_needless_successor();
            match goal {
                Goal::Wait(reason) => {
                    self.board.set_status(self.status(Phase::Preparing, reason));
                    self.changed().await;
                }
                Goal::Stopped => {
                    self.restarts = 0;
                    self.board.set_status(Status::new(Phase::Stopped, "stopped as desired"));
                    self.changed().await;
                }
                Goal::Running(orders) => {
                    if let Some(broker) = self.start(&orders).await {
                        return Some(broker);
                    }
                }
            }
        }
    }

    /// One attempt. None: it failed, or something else is wanted by now.
    async fn start(&mut self, orders: &Orders) -> Option<Broker> {
        if let Err(error) = own_user::take(&self.place) {
            self.pause_after(&PrepareError::Launch(error.to_string())).await;
            return None;
        }
        self.show_preparing("preparing the broker");
        let (place, launcher) = (&self.place.clone(), self.launcher.clone());
        let board = self.board.clone();
        let progress = move |words: String| board.set_detail(words);
        let (slots, is_first) = (self.start_slots.clone(), self.restarts == 0 && !self.returns);
        let start_slot = async {
            if is_first { slots.take(orders.desired.instance_id, &progress).await } else { None }
        };
        let preparing = prepare::prepare(
            place,
            &*launcher,
            &orders.desired,
            &orders.broker,
            start_slot,
            &progress,
        );
        let prepared = tokio::select! {
            biased;
            () = self.changed() => return None,
            prepared = preparing => prepared,
        };
        let started = match prepared {
            Ok(Prepared { launch, start_slot }) => {
                self.start_slot = start_slot;
                let launch_number = orders.desired.launch;
                let wanted = For { config_hash: &orders.broker.config_hash, launch: launch_number };
                let started = self.run_broker(launch, wanted).await;
                started
                    .map_err(|error| PrepareError::Launch(format!("it can't be started: {error}")))
            }
            Err(error) => Err(error),
        };
        match started {
            Ok(broker) => Some(broker),
            Err(error) => {
                self.start_slot = None;
                self.pause_after(&error).await;
                None
            }
        }
    }

    /// In the JVM that was warmed up for it, in one of the host's pool, or in a new one.
    async fn run_broker(&mut self, launch: Launch, wanted: For<'_>) -> io::Result<Broker> {
        let successor = match self.successor.take() {
            Some(successor) if successor.is_for(&launch) => Some(successor),
            Some(_) => {
                self.warmth.give_up("the one that was warmed up is out of date".into());
                None
            }
            None if self.cold_next => None,
            None => self.launcher.take_from_pool(&launch).await,
        };
        let Some(successor) = successor else {
            return Broker::start(&self.place, launch, wanted).await;
        };
        match Broker::take_over(&self.place, successor, wanted, self.pace.order()).await {
            Ok(broker) => Ok(broker),
            Err(error) => {
                self.warmth.give_up(format!("the one that was warmed up failed, {error}"));
                Broker::start(&self.place, launch, wanted).await
            }
        }
    }

    /// One that waits costs memory.
    fn end_needless_successor(&mut self) {
        if !self.is_wanted() {
            self.successor = None;
        }
    }

    /// While preparing a restart, or looking for a lost disk, the failure before
    /// it stays in view.
    fn show_preparing(&self, words: &str) {
        let failed = self.board.view().status.phase == Phase::Failed;
        if self.restarts == 0 && !failed {
            self.board.set_status(self.status(Phase::Preparing, words));
        }
    }

    async fn pause_after(&mut self, error: &PrepareError) {
        let mut status = self.status(Phase::Failed, error.to_string());
        let pause = if let PrepareError::Disk(fault) = error {
            // Nothing was started, and a look costs next to nothing.
            status.disk_fault = Some(fault.to_string());
            status.log_tail = self.board.view().status.log_tail;
            self.pace.disk
        } else {
            self.restarts += 1;
            status.restarts = self.restarts;
            self.pace.pause(self.restarts)
        };
        if self.board.view().status.detail != status.detail {
            tracing::warn!(%error, "the broker can't be started");
        }
        self.board.set_status(status);
        let _ = timeout(pause, self.changed()).await;
    }

    /// Stays with a live broker until it has ended, and says why it did.
    async fn attend(&mut self, mut broker: Broker) {
        let slot_ends = broker.began() + self.pace.start_slot;
        let mut since = None;
        let mut lasted = false;
        let mut rehearsal: Option<Rehearsal> = None;
        let mut standby_after = None;
        loop {
            // What is decided below is for this goal: it is no change once more.
            self.goal.mark_unchanged();
            if *self.shutdown.borrow() {
                self.successor = None;
                drop(rehearsal);
                return self.stop(broker).await;
            }
            if since.is_none() && broker.has_started(&self.place) {
                since = Some(Instant::now());
            }
            let started = since.is_some();
            if self.shall_stop(&broker, started) {
                let leaving = match self.warm_up(&mut broker, &mut rehearsal).await {
                    Leaving::Go => self.ask_leave(&mut broker).await,
                    other => other,
                };
                match leaving {
                    Leaving::Go => return self.stop(broker).await,
                    // What was to stop for good has.
                    Leaving::Ended(_) if !self.is_wanted() => return,
                    Leaving::Ended(exit) => {
                        drop(rehearsal);
                        let ending = self.ending(&broker, exit, since);
                        return self.after_end(ending).await;
                    }
                    Leaving::Changed => continue,
                }
            }
            let well_at = since.unwrap_or_else(Instant::now) + self.pace.well_after;
            let standby_at = standby_after.unwrap_or(well_at);
            let need = self.need_of_warm_jvm(&broker, started);
            if started {
                (self.start_slot, self.returns) = (None, false);
                self.warmth.forget_unless(need == Need::Next);
            }
            match need {
                Need::None => {
                    self.successor = None;
                    rehearsal = None;
                }
                Need::Standby if Instant::now() < standby_at => {}
                Need::Standby | Need::Next => self.keep_rehearsing(&mut rehearsal),
            }
            if started && lasted {
                self.restarts = 0;
            }
            self.show(&mut broker, started);
            let mut successor = self.successor.take();
            tokio::select! {
                exit = broker.ended() => {
                    drop(rehearsal);
                    self.successor = successor;
                    let ending = self.ending(&broker, exit, since);
                    return self.after_end(ending).await;
                }
                () = sleep(self.pace.glance), if !started => {}
                () = sleep_until(well_at), if started && !lasted => lasted = true,
                () = sleep_until(slot_ends), if self.start_slot.is_some() => self.start_slot = None,
                warmed = end_of_rehearsal(&mut rehearsal) => {
                    rehearsal = None;
                    standby_after = Some(Instant::now() + self.pace.standby);
                    match warmed {
                        Err(why) if need == Need::Standby => {
                            tracing::info!(why, "no JVM stands by for the broker");
                        }
                        warmed => self.note_warmed(warmed),
                    }
                    continue;
                }
                () = end_of(&mut successor) => {
                    tracing::info!("the JVM that was to follow the broker has died");
                    standby_after = Some(Instant::now() + self.pace.standby);
                    continue;
                }
                () = sleep_until(standby_at), if need == Need::Standby && rehearsal.is_none() && successor.is_none() => {}
                () = self.changed() => {}
            }
            self.successor = successor;
        }
    }

    /// What can be told of an end, `since` it had started if it had.
    fn ending(&self, broker: &Broker, exit: Exit, since: Option<Instant>) -> Ending {
        // One that came to its logs had found a quorum: it failed by itself, and may do
        // so again and again.
        let searched = since.is_none()
            && broker.began().elapsed() >= self.pace.searching
            && !broker.came_to_logs(&self.place);
        Ending {
            exit: exit.0,
            tail: broker.log_tail(&self.place),
            full: disk::check_room(&self.place, self.launcher.room_to_start()).err(),
            found_no_quorum: searched || broker.found_no_quorum(&self.place),
            ran: since.map(|since| since.elapsed()),
        }
    }

    fn is_wanted(&self) -> bool {
        matches!(*self.goal.borrow(), Goal::Running(_))
    }

    /// Whether the broker at hand is to end: for good, or to be started anew.
    fn shall_stop(&self, broker: &Broker, started: bool) -> bool {
        match &*self.goal.borrow() {
            Goal::Stopped => true,
            Goal::Running(orders) => started && broker.launch() < orders.desired.launch,
            Goal::Wait(_) => false,
        }
    }

    fn show(&self, broker: &mut Broker, started: bool) {
        self.board.set_status(self.status_of(broker, started));
    }

    fn status_of(&self, broker: &mut Broker, started: bool) -> Status {
        let loading = if started { None } else { broker.loading(&self.place) };
        let (phase, detail) = match loading {
            _ if started => (Phase::Running, "running".to_owned()),
            Some(loading) => (Phase::Starting, loading.to_string()),
            None => (Phase::Starting, format!("the broker is starting{}", self.warmth.suffix())),
        };
        let mut status = self.status(phase, detail);
        status.loading = loading;
        status.broker_pid = Some(broker.pid());
        status.config_hash = broker.config_hash();
        status.launch = broker.launch();
        if !started && self.restarts > 0 {
            // Until it runs, the reason why the last start failed stays in view.
            status.log_tail = self.board.view().status.log_tail;
        }
        status
    }

    /// SIGTERM, and then all the time it takes, unless it can't react.
    async fn stop(&mut self, mut broker: Broker) {
        self.start_slot = None;
        let was_silent = self.board.view().silent_since().is_some();
        let mut status = self.status(Phase::Stopping, "the broker is being stopped");
        status.broker_pid = Some(broker.pid());
        status.config_hash = broker.config_hash();
        status.launch = broker.launch();
        self.board.set_status(status);
        self.returns = self.is_wanted();
        let shutdown =
            UnresponsiveShutdown::new(was_silent, Marks::now(&self.place), Instant::now());
        broker.terminate();
        let exit =
            until_ended(&mut broker, shutdown, &self.place, self.pace.unresponsive_shutdown).await;
        self.restarts = 0;
        tracing::info!(exit = exit.0, "the broker is stopped");
    }

    async fn after_end(&mut self, ending: Ending) {
        self.start_slot = None;
        self.cold_next = ending.ran.is_none();
        if ending.ran_well(&self.pace) {
            self.restarts = 0;
        }
        self.restarts = self.restarts.saturating_add(1);
        let pause = ending.pause(&self.pace, self.restarts);
        let next = self.clock.now().saturating_add(pause).unwrap_or(Timestamp::MAX);
        let detail = ending.detail(pause, next);
        tracing::warn!(detail, full = ?ending.full, "the broker ended");
        let mut status = self.status(Phase::Failed, detail);
        status.disk_fault = ending.full.map(|fault| fault.to_string());
        status.log_tail = ending.tail;
        self.board.set_status(status);
        // Whatever is desired by now may well be the remedy.
        let _ = timeout(pause, self.changed()).await;
    }

    /// Returns when goal or shutdown change; never once the senders of both are
    /// gone.
    async fn changed(&mut self) {
        tokio::select! {
            Ok(()) = self.goal.changed() => {}
            Ok(()) = self.shutdown.changed() => {}
            else => std::future::pending().await,
        }
    }

    fn status(&self, phase: Phase, detail: impl Into<String>) -> Status {
        Status { restarts: self.restarts, ..Status::new(phase, detail) }
    }
}

/// Kills a broker that has not ended and shown no sign of life for so long: it did not
/// answer before it was asked, or a signal has stopped it, and SIGTERM waits with
/// everything else. It is not woken up for that: what it led is led by others by now,
/// and it would answer clients that still wait for it.
async fn until_ended(
    broker: &mut Broker,
    mut shutdown: UnresponsiveShutdown,
    place: &Place,
    patience: Duration,
) -> Exit {
    loop {
        tokio::select! {
            exit = broker.ended() => return exit,
            () = sleep(patience / 10) => {}
        }
        if shutdown.look(broker.is_paused(), Marks::now(place), Instant::now()) >= patience {
            tracing::warn!(pid = broker.pid(), "the broker can't react and is killed");
            broker.kill();
            return broker.ended().await;
        }
    }
}

#[cfg(test)]
#[path = "supervisor_tests.rs"]
mod tests;
