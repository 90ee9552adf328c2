//! Growing, shrinking and rebalancing clusters, told as stories.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod estimated;
mod grown;
mod racks;
mod refused;
mod safety;
mod shrunk;
mod story;
mod world;
