//! The audit log as its account reads it, the tasks that seal it and sum up what is beyond
//! its budget, and what the operator does with it.

mod archive;
mod export;
mod sealing;
mod summary;

pub use archive::{Archived, prune, write_archive};
pub use export::{Export, Wanted, export};
pub use sealing::{Verified, seal_due, verify};
pub use store::AuditLine;
pub use store::chain::archive::{Archive, Reading, Section, Unsound};
pub use summary::summarise_due;
