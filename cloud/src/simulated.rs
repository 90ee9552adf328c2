//! In-memory cloud.
pub struct SimulatedCloud;
