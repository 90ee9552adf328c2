//! `/api/metrics`: what the servers of an instance measured.

pub mod prometheus;
pub mod read;
