//! Bills against a recomputation that was written another way, and the task
//! that issues them against clocks, crashes and colleagues.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

mod histories;
mod issue;
mod properties;
mod recompute;
mod world;
