//! The cluster as a whole.

pub mod restart;
pub mod status;
