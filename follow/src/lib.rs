//! Follows the log files of one server and keeps what it read in a bounded buffer on disk,
//! until every destination has it.
//!
//! A [`Tail`] reads the files a bounded piece at a time ([`Tail::turn`]), makes events of
//! their lines and appends them to a spool. Each destination reads from there at its own pace
//! ([`Tail::read`]) and acknowledges what it has taken ([`Tail::ack`]).
//!
//! One write carries both the events and how far their file was read, so a process that is
//! killed at any moment neither loses nor doubles what is in the spool. Nothing here waits
//! for a destination, and nothing is kept in memory but one event of each file.
//!
//! Calls read and write files, so they belong where blocking is allowed.

mod assemble;
mod disk;
mod fault;
mod files;
mod format;
mod frame;
mod log;
mod mark;
mod record;
mod rotated;
mod spool;
mod state;
mod tail;

pub use fault::Fault;
pub use files::{Files, Limits};
pub use log::PIECE;
pub use spool::{Batch, Position};
pub use tail::{Tail, Turn};
