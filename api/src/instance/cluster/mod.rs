//! The cluster as a whole.

pub mod status;
