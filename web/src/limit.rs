//! How many requests somebody may send: token buckets for keys, accounts and
//! addresses.
//!
//! Every request is charged before its key is looked up. A key that a look-up
//! has found lately is charged to its own bucket and its account's; all else,
//! and so every guess, is charged to the address it comes from. Refusing is left
//! to the routes, because a path or method that does not exist comes first.

mod bucket;
mod charge;
mod limiter;
mod settings;

pub use charge::{Charge, EXEMPT, enforce, looked_up};
pub use limiter::RateLimit;
pub use settings::{Rate, RateLimits};
