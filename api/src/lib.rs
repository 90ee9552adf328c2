//! The HTTP side: both APIs and the agents' listener.
//!
//! An endpoint is one file that extracts, calls one use case of `app` and
//! converts. What holds for all of them (keys, bodies, headers, errors) is one
//! extractor or one layer each. Nothing here reads the store or decides what a
//! caller may do.

mod address;
mod agents;
mod answer;
mod around;
mod auth;
mod body;
mod confirmations;
mod connections;
mod customer;
mod docs;
mod error;
mod health;
mod instance;
mod invitations;
mod limit;
pub mod listen;
mod metrics;
mod openapi;
mod page;
mod path;
mod polite;
pub mod routes;
mod state;
pub mod tls;

pub use connections::{ConnectionLimits, Connections};
pub use limit::{Rate, RateLimit, RateLimits};
pub use routes::{agent_router, customer_router, instance_router};
pub use state::{Listener, Options, PeerCertificate};
