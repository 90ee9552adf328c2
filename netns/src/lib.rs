//! Private networks on one Linux host: a namespace with a bridge for each, and a namespace for
//! each member with an address in it.
//!
//! What should be comes in as a description, what is is read from the kernel, and the
//! difference is applied, in an order in which nothing is open before its rules are there.
//! Every step may be repeated, so that one who dies anywhere only has to begin again. Nothing is
//! touched that does not bear the caller's [`Tag`]. It knows neither instances nor Kafka, and
//! blocks while it works.

mod description;
mod error;
mod found;
mod kernel;
mod lists;
mod make;
mod member;
mod missing;
mod names;
mod ranges;
mod remove;
mod rules;
mod seen;
mod settings;
pub mod testing;

pub use description::{Control, Member, Network, Published, Rule};
pub use error::Error;
pub use found::{Found, Kind, found, remove_found};
pub use make::Networks;
pub use missing::missing;
pub use names::{Slot, Tag};
pub use ranges::{POOL, alias, aliases, block, choose_slot, host_address, host_networks};
