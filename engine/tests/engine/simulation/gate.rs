//! Where a control plane is stopped: at a moment of a step, or around one of
//! its effects.
//!
//! Steps of side-by-side lanes take turns here, from begin to end, so that a
//! seed always gives the same order. What is frozen never has a transaction
//! open, and can be dropped (a crash) or let go on (a sleep).

use async_trait::async_trait;
use engine::{Moment, Step, Witness};
use std::sync::Mutex;
use tokio::sync::{Notify, Semaphore};

/// An effect outside the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    TakeOver,
    EnsureNetwork,
    EnsureDisk,
    EnsureServer,
    RemoveServer,
    RemoveDisk,
    RemoveNetwork,
    Retire,
    SetUser,
    AddRights,
    ChangeSettings,
    ChangeQuota,
    LogIn,
    Look,
    ElectLeaders,
    ReadPlacement,
    Reassign,
    CancelCopies,
    AddVoter,
    RemoveVoter,
    Unregister,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Point {
    /// By the name of the step.
    Begins(&'static str),
    Before(Effect),
    /// Done, but the answer has not come and nothing is written.
    After(Effect),
    Ends(&'static str),
}

pub struct Gate {
    state: Mutex<State>,
    lane: Semaphore,
    hit: Notify,
    open: Notify,
}

#[derive(Default)]
struct State {
    stop: Stop,
    frozen: bool,
    /// The step under way.
    step: Option<Step>,
}

#[derive(Default)]
enum Stop {
    #[default]
    Never,
    At(Point),
    /// At the point of this very step.
    In(&'static str, Point),
    /// After so many points of any kind.
    After(usize),
}

impl Default for Gate {
    fn default() -> Self {
        let (hit, open) = (Notify::new(), Notify::new());
        Self { state: Mutex::default(), lane: Semaphore::new(1), hit, open }
    }
}

impl Gate {
    /// Freezes whoever comes to this point next.
    pub fn freeze_at(&self, point: Point) {
        self.state.lock().unwrap().stop = Stop::At(point);
    }

    /// Freezes the next control plane that comes to this point of this step.
    pub fn freeze_in(&self, step: &'static str, point: Point) {
        self.state.lock().unwrap().stop = Stop::In(step, point);
    }

    /// Freezes at the point after so many others.
    pub fn freeze_after(&self, points: usize) {
        self.state.lock().unwrap().stop = Stop::After(points);
    }

    pub fn never_freeze(&self) {
        self.state.lock().unwrap().stop = Stop::Never;
    }

    pub fn let_go(&self) {
        self.never_freeze();
        self.state.lock().unwrap().frozen = false;
        self.open.notify_waiters();
    }

    /// The name of the step under way, also of one that is frozen.
    pub fn step(&self) -> Option<&'static str> {
        self.state.lock().unwrap().step.map(super::steps::name)
    }

    /// Returns once something is frozen.
    pub async fn frozen(&self) {
        self.hit.notified().await;
    }

    pub async fn comes_to(&self, point: Point) {
        self.is_listed(point);
        if self.freezes(point) {
            self.hit.notify_one();
        }
        // Calls that went out side by side stand still together: one of them
        // alone could end the step, and what follows would stop anywhere.
        loop {
            let opened = self.open.notified();
            if !self.state.lock().unwrap().frozen {
                return;
            }
            opened.await;
        }
    }

    /// An effect that its step is not said to have would be tested nowhere.
    fn is_listed(&self, point: Point) {
        let step = self.state.lock().unwrap().step;
        if let (Some(step), Point::Before(effect)) = (step, point) {
            let listed = super::steps::effects(step).contains(&effect);
            assert!(listed, "{step:?} has the effect {effect:?}; list it in steps.rs");
        }
    }

    fn freezes(&self, point: Point) -> bool {
        let mut state = self.state.lock().unwrap();
        let under_way = state.step.map(super::steps::name);
        let freezes = match &mut state.stop {
            Stop::Never => false,
            Stop::At(at) => *at == point,
            Stop::In(step, at) => *at == point && under_way == Some(*step),
            Stop::After(0) => true,
            Stop::After(left) => {
                *left -= 1;
                false
            }
        };
        if freezes {
            state.stop = Stop::Never;
            state.frozen = true;
        }
        freezes
    }
}

#[async_trait]
impl Witness for Gate {
    async fn sees(&self, step: Step, moment: Moment) {
        let name = super::steps::name(step);
        match moment {
            Moment::Begins => {
                self.lane.acquire().await.unwrap().forget();
                self.state.lock().unwrap().step = Some(step);
                self.comes_to(Point::Begins(name)).await;
            }
            Moment::Ends => {
                self.comes_to(Point::Ends(name)).await;
                self.state.lock().unwrap().step = None;
                self.lane.add_permits(1);
            }
        }
    }
}
