//! Growing, shrinking and rebalancing clusters: told as stories, tried on thousands of random
//! clusters, and carried out on a simulated Kafka with bad luck.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bad_luck;
mod dice;
mod estimated;
mod grown;
mod kafka;
mod large;
mod racks;
mod random;
mod refused;
mod safety;
mod shrunk;
mod simulated;
mod story;
mod world;
