//! A Kafka cluster without processes, behind the same trait as a real one.
//!
//! It goes by the clock it is given and by a seed, and by nothing else: asked
//! again with the same two, it does the same. What it knows of Kafka's ways is
//! held against a real cluster by `conformance`. Beside what a client
//! can ask it tells a test the truth, and writes down every acknowledged write,
//! so that one that is lost is seen.

mod admin;
mod copies;
mod groups;
mod messages;
mod metadata;
mod node;
mod operators;
mod partition;
mod placement;
mod quorum;
mod quotas;
mod record;
mod replicas;
mod sessions;
mod settings;
mod settings_of;
mod speed;
mod state;
mod timing;
mod topics;
mod truth;
mod users;
mod voters;

pub use node::{Process, SimNode};
pub use timing::Timing;
pub use truth::SimPartition;

use model::Clock;
use state::State;
use std::sync::{Arc, Mutex, MutexGuard};

/// What goes wrong with a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// No broker takes the connection; nothing is done.
    Refused,
    /// No answer comes in time; nothing is done.
    Slow,
    /// Everything is done, but the connection ends before the answer.
    LostReply,
}

pub struct SimKafka {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

impl SimKafka {
    pub fn new(clock: Arc<dyn Clock>, seed: u64, timing: Timing) -> Self {
        let state = Mutex::new(State::new(clock.now(), seed, timing));
        Self { clock, state }
    }

    /// The cluster as it is by now.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().expect("no holder of this lock panics");
        state.run_to(self.clock.now());
        state
    }
}

#[cfg(test)]
mod growing_tests;
#[cfg(test)]
mod tests;
