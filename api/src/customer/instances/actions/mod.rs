//! `/api/instances/<ID>/actions/…`.

pub mod cluster_start;
pub mod cluster_stop;
