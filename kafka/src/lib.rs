//! What we know of Apache Kafka: releases and their jars, how a broker is
//! configured and started, and the protocol client that talks to it.
//!
//! This crate never knows where a server comes from. Rendering and command
//! lines are pure; fetching jars and making start-up caches are the only work
//! done on the machine, and both leave a whole result or none.

pub mod artifacts;
pub mod client;
mod endpoint;
pub mod java;
pub mod launch;
pub mod metrics;
mod naming;
mod placeholder_user;
pub mod placement;
mod progress;
pub mod quorum;
pub mod rehearsal;
pub mod render;
pub mod rights;
pub mod safety;
pub mod settings;
pub mod simulated;
pub mod startup_cache;
pub mod throttle;
mod throwaway;
pub mod versions;

pub use endpoint::Endpoint;
pub use placeholder_user::PLACEHOLDER_USER;
pub use progress::Progress;
