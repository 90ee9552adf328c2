//! A few messages of a topic, to look at and to try things with.

mod fate;
mod read;
mod send;
mod write;

pub use kafka::client::messages::{Message, NewMessage};
pub use read::{ReadFields, read};
pub use write::{Contents, MessageFields, WriteFields, write};

/// Bytes of keys, values and headers in one call.
const MOST_BYTES: usize = 1 << 20;
