//! Bills against a recomputation that was written another way, and the task
//! that issues them against clocks, crashes and colleagues.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

mod histories;
mod issue;
#[path = "../../../store/tests/postgres/mod.rs"]
mod postgres;
mod properties;
mod recompute;
mod world;
