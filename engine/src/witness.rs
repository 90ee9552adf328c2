//! A hook for tests that look on while steps run.
//!
//! A test can hold a step up, or drop the engine, at exactly the moment it
//! wants. In production there is none, and a moment costs nothing. Moments
//! between a step's effect and its write need no witness: effects go through
//! [`cloud::Cloud`] and [`kafka::client::Admin`], which a test brings along.

use crate::Engine;
use crate::plan::Step;
use async_trait::async_trait;
use std::sync::Arc;

/// Where a step is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Moment {
    /// Nothing of it has happened.
    Begins,
    /// It did what it could; whatever it had to write is written.
    Ends,
}

#[async_trait]
pub trait Witness: Send + Sync {
    /// The step goes on when this returns. No transaction of it is open.
    async fn sees(&self, step: Step, moment: Moment);

    /// A pass has nothing left to do, and has not written that yet.
    async fn sees_rest(&self) {}
}

impl Engine {
    #[must_use]
    pub fn witnessed(mut self, witness: Arc<dyn Witness>) -> Self {
        self.witness = Some(witness);
        self
    }

    pub(crate) async fn seen(&self, step: Step, moment: Moment) {
        if let Some(witness) = &self.witness {
            witness.sees(step, moment).await;
        }
    }

    pub(crate) async fn seen_to_rest(&self) {
        if let Some(witness) = &self.witness {
            witness.sees_rest().await;
        }
    }
}
