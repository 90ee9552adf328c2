//! What the engine does, in worlds without processes: a real store, and a simulated
//! cloud, Kafka and agents. One program, as each that has all of this is long to build.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod addresses;
mod create_and_delete;
mod firewalls;
mod meanwhile;
mod networks;
mod operator;
mod set_back;
mod simulation;
mod statuses;
mod world;

use test_support::rows;
