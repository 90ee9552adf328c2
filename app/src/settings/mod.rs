//! The few settings of all brokers that a customer may choose.
//!
//! What was chosen is written down as intent. The engine writes what can change
//! while brokers run into Kafka, and restarts them one at a time for the rest.
//! `configured` reads false only until such a restart is done.

mod list;
mod update;

pub use kafka::settings::{KNOWN, Kind};
pub use list::list;
pub use update::{Values, update};
