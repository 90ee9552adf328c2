//! What comes before a broker is stopped: the JVM that follows it is warmed up, where it is
//! to be started anew, and the control plane gives leave. Meanwhile the broker runs on.

mod returning;

use super::Supervisor;
use crate::broker::Broker;
use crate::goal::{Goal, Orders};
use crate::leave::Answer;
use crate::successor::Successor;
use crate::warmth;
use host::Exit;
use returning::Returning;
use std::pin::Pin;
use std::sync::Arc;
use tokio::time::{Instant, sleep};

/// What became of the wish to stop.
pub(super) enum Leaving {
    Go,
    /// The broker has ended by itself.
    Ended(Exit),
    /// Something else may be wanted.
    Changed,
}

/// What a warm JVM beside a broker that runs is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    None,
    /// The broker may end at any time.
    Standby,
    /// While another server is away, this broker is the next to be restarted.
    Next,
}

impl Supervisor {
    /// Has the next JVM ready before the broker at hand is stopped to be started anew. If
    /// that can't be, it is restarted without. Meanwhile it runs on.
    ///
    /// `rehearsal` is one that is under way, and still is if something else is wanted meanwhile:
    /// it has the JVM that was on standby.
    pub(super) async fn warm_up(
        &mut self,
        broker: &mut Broker,
        rehearsal: &mut Option<Rehearsal>,
    ) -> Leaving {
        let goal = self.goal.borrow().clone();
        self.end_needless_successor();
        let Goal::Running(orders) = goal else { return Leaving::Go };
        if !self.warmth.may_try(&orders) && self.successor.is_none() {
            return Leaving::Go;
        }
        match self.launcher.may_warm() {
            Ok(true) => {}
            Ok(false) => {
                self.successor = None;
                self.warmth.turn_off();
                return Leaving::Go;
            }
            Err(why) => {
                self.warmth.give_up(why);
                return Leaving::Go;
            }
        }
        if self.board.view().silent_since().is_some() && self.successor.is_none() {
            self.warmth.give_up("the broker does not answer, and its restart can't wait".into());
            return Leaving::Go;
        }
        // A JVM of whose start something is missing is no better than none, and leave is not
        // asked for before that is there.
        let returning = Returning::new(self);
        match self.meanwhile(broker, &mut None, returning.obstacle()).await {
            Ok(None) => {}
            Ok(Some(_)) => return Leaving::Go,
            Err(leaving) => return leaving,
        }
        let mut status = self.status_of(broker, true);
        status.detail = "running; the JVM for its restart is being warmed up".into();
        self.board.set_status(status);
        let is_for = |it: &Rehearsal| it.config_hash == orders.broker.config_hash;
        let under_way = rehearsal.take().filter(is_for);
        let warming = rehearsal.insert(under_way.unwrap_or_else(|| self.rehearse(orders)));
        let turn = self.pace.turn;
        let warmed = tokio::select! {
            biased;
            exit = broker.ended() => return Leaving::Ended(exit),
            () = self.changed() => return Leaving::Changed,
            warmed = &mut warming.warming => warmed,
            () = sleep(turn) => Err(format!("its rehearsal takes more than {} s", turn.as_secs())),
        };
        *rehearsal = None;
        self.note_warmed(warmed);
        Leaving::Go
    }

    fn rehearse(&mut self, orders: Arc<Orders>) -> Rehearsal {
        let (place, launcher) = (self.place.clone(), self.launcher.clone());
        let (present, patience) = (self.successor.take(), self.pace.rehearsal);
        Rehearsal {
            config_hash: orders.broker.config_hash.clone(),
            warming: Box::pin(async move {
                warmth::warm_up(&place, &*launcher, &orders, present, patience).await
            }),
        }
    }

    pub(super) fn note_warmed(&mut self, warmed: Result<Successor, String>) {
        match warmed {
            Ok(successor) => self.successor = Some(successor),
            Err(why) => self.warmth.give_up(why),
        }
    }

    /// What a JVM beside this broker is needed for.
    pub(super) fn need_of_warm_jvm(&self, broker: &Broker, started: bool) -> Need {
        let Goal::Running(orders) = &*self.goal.borrow() else { return Need::None };
        if !started || broker.launch() != orders.desired.launch {
            Need::None
        } else if orders.desired.rehearse {
            Need::Next
        } else if self.launcher.keeps_standby() {
            Need::Standby
        } else {
            Need::None
        }
    }

    /// Begins to warm up a JVM unless one is there, is on its way, or can't be had.
    pub(super) fn keep_rehearsing(&mut self, rehearsal: &mut Option<Rehearsal>) {
        let Goal::Running(orders) = self.goal.borrow().clone() else { return };
        let may_begin = rehearsal.is_none()
            && self.successor.is_none()
            && self.board.view().silent_since().is_none()
            && self.warmth.may_try(&orders)
            && self.launcher.may_warm() == Ok(true);
        if may_begin {
            *rehearsal = Some(self.rehearse(orders));
        }
    }

    /// Asks until the broker may stop, or something else is wanted. Meanwhile it
    /// runs on.
    pub(super) async fn ask_leave(&mut self, broker: &mut Broker) -> Leaving {
        let mut successor = self.successor.take();
        let is_there = successor.is_some();
        let asked = self.ask_leave_beside(broker, &mut successor).await;
        if is_there && successor.is_none() {
            self.warmth.note_death();
        }
        self.successor = successor;
        asked.err().unwrap_or(Leaving::Go)
    }

    /// The same, while a successor waits that may die.
    async fn ask_leave_beside(
        &mut self,
        broker: &mut Broker,
        successor: &mut Option<Successor>,
    ) -> Result<(), Leaving> {
        // It may take long, and others wait for a slot to start.
        self.start_slot = None;
        let (leave, pace, returning) = (Arc::clone(&self.leave), self.pace, Returning::new(self));
        let (mut asked, mut had_obstacle) = (0, false);
        loop {
            let obstacle = self.meanwhile(broker, successor, returning.obstacle()).await?;
            if had_obstacle && obstacle.is_none() {
                // Now a JVM can be warmed up.
                return Err(Leaving::Changed);
            }
            had_obstacle = obstacle.is_some();
            let began = Instant::now();
            let answer = match obstacle {
                Some(reason) => Answer::No(reason),
                None => self.meanwhile(broker, successor, leave.ask()).await?,
            };
            let (reason, passing) = match answer {
                Answer::No(reason) => (reason, false),
                Answer::NotYet(reason) => (reason, true),
                // It was true when it was given.
                Answer::Go if began.elapsed() > pace.stale => {
                    ("the answer came too late".into(), false)
                }
                Answer::Go => return Ok(()),
            };
            let started = broker.has_started(&self.place);
            let mut status = self.status_of(broker, started);
            let suffix = self.warmth.suffix();
            status.detail = format!("waiting for leave to stop: {reason}{suffix}");
            (status.waits_for_leave, status.wait_is_passing) = (Some(reason), passing);
            self.board.set_status(status);
            asked += 1;
            self.meanwhile(broker, successor, sleep(pace.claim_pause(asked))).await?;
        }
    }

    /// Waits for that as long as the broker and its successor run on and nothing else is wanted.
    async fn meanwhile<T>(
        &mut self,
        broker: &mut Broker,
        successor: &mut Option<Successor>,
        what: impl Future<Output = T>,
    ) -> Result<T, Leaving> {
        tokio::select! {
            biased;
            exit = broker.ended() => Err(Leaving::Ended(exit)),
            () = self.changed() => Err(Leaving::Changed),
            () = end_of(successor) => Err(Leaving::Changed),
            done = what => Ok(done),
        }
    }
}

/// A JVM that is being warmed up in the background. Dropped, it ends.
pub(super) struct Rehearsal {
    /// Of the broker that it is to be.
    config_hash: String,
    warming: Pin<Box<dyn Future<Output = Result<Successor, String>> + Send>>,
}

/// Returns how it came out; without one never.
pub(super) async fn end_of_rehearsal(
    rehearsal: &mut Option<Rehearsal>,
) -> Result<Successor, String> {
    match rehearsal {
        Some(rehearsal) => (&mut rehearsal.warming).await,
        None => std::future::pending().await,
    }
}

/// Returns when the successor dies, and forgets it; without one never.
pub(super) async fn end_of(successor: &mut Option<Successor>) {
    match successor {
        Some(waiting) => {
            waiting.ended().await;
            *successor = None;
        }
        None => std::future::pending().await,
    }
}
