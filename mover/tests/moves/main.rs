//! Growing, shrinking and rebalancing clusters: told as stories, and tried on thousands of
//! random clusters.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod dice;
mod estimated;
mod grown;
mod large;
mod racks;
mod random;
mod refused;
mod safety;
mod shrunk;
mod story;
mod world;
