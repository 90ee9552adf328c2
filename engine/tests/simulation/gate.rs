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
    LogIn,
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
}

#[derive(Default)]
enum Stop {
    #[default]
    Never,
    At(Point),
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

    /// Freezes at the point after so many others.
    pub fn freeze_after(&self, points: usize) {
        self.state.lock().unwrap().stop = Stop::After(points);
    }

    pub fn never_freeze(&self) {
        self.state.lock().unwrap().stop = Stop::Never;
    }

    pub fn let_go(&self) {
        self.never_freeze();
        self.open.notify_one();
    }

    /// Returns once something is frozen.
    pub async fn frozen(&self) {
        self.hit.notified().await;
    }

    pub async fn comes_to(&self, point: Point) {
        if self.freezes(point) {
            self.hit.notify_one();
            self.open.notified().await;
        }
    }

    fn freezes(&self, point: Point) -> bool {
        let mut state = self.state.lock().unwrap();
        let freezes = match &mut state.stop {
            Stop::Never => false,
            Stop::At(at) => *at == point,
            Stop::After(0) => true,
            Stop::After(left) => {
                *left -= 1;
                false
            }
        };
        if freezes {
            state.stop = Stop::Never;
        }
        freezes
    }
}

#[async_trait]
impl Witness for Gate {
    async fn sees(&self, step: Step, moment: Moment) {
        let name = crate::steps::name(step);
        match moment {
            Moment::Begins => {
                self.lane.acquire().await.unwrap().forget();
                self.comes_to(Point::Begins(name)).await;
            }
            Moment::Ends => {
                self.comes_to(Point::Ends(name)).await;
                self.lane.add_permits(1);
            }
        }
    }
}
