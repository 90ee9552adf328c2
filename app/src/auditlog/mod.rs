//! The audit log as its account reads it, and the task that seals it.

mod export;
mod sealing;

pub use export::{Export, Wanted, export};
pub use sealing::{Verified, seal_due, verify};
pub use store::AuditLine;
