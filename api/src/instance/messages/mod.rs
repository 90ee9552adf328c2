//! `/api/topics/<name>/messages`.

pub mod read;
pub mod write;
