//! How far behind consumer groups are: asked of the cluster, not of agents.
//!
//! It is sampled by the control plane that the first server's agent talks to, and
//! kept with that server's windows, so of several control planes one asks. What it is
//! told by is the instance's: the next server goes on where the first one went silent.

mod lag;
mod sample;

pub(super) use lag::Ends;
pub use lag::Lag;
pub use sample::{Lags, sample_groups};
