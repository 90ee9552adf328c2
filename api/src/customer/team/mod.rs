//! `/api/team`.

pub mod invite;
pub mod list;
pub mod remove;
pub mod update;
