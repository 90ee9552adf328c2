//! The base of every HTTP listener: connections and their limits, TLS, request ids, rate
//! limits, the access log, and how an error of a use case is answered.
//!
//! Knows no endpoint. A router of this base is served by [`listen::serve`] with the
//! [`Options`] it was made with.

pub mod address;
pub mod around;
pub mod basic;
pub mod counters;
pub mod error;
pub mod limit;
pub mod listen;
pub mod state;
pub mod tls;

mod connections;
mod polite;
mod resting;

pub use connections::{ConnectionLimits, Connections};
pub use limit::{Rate, RateLimit, RateLimits};
pub use state::{Listener, Options, PeerCertificate};
