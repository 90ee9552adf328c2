//! Logs and metrics on their way to where people already look: events and points become calls
//! to ten systems, each in its own documented format and within its limits, and an [`Outcome`]
//! has what became of them.
//!
//! [`Shipper`] keeps no queue, no timer and no store, and tries nothing twice: what is not done
//! is the caller's to send again. Agents send logs with it and the control plane metrics, both
//! by the rules of `egress`. No message of an event is logged here, and errors are
//! sentences of ours, with nothing in them that a destination answered.

mod about;
mod aws;
mod batch;
mod budget;
mod destination;
mod drive;
mod endpoints;
mod link;
mod outcome;
mod retry;
mod shipper;
mod systems;
mod text;

pub use about::{Instance, Origin, Point, Server};
pub use destination::{BadDestination, Destination, check_destination};
pub use endpoints::{Address, BadAddress, Endpoints};
pub use outcome::{Outcome, Trouble, Verdict};
pub use retry::retry_pause;
pub use shipper::Shipper;
