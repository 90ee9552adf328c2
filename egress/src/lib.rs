//! Calls that leave the installation for addresses that customers chose: what may be called,
//! how a name is looked up, with which TLS, and what became of the call.
//!
//! Knows nothing of what is said or to whom. Keeps nothing and tries nothing twice.

mod addresses;
mod call;
mod destinations;
mod fault;
mod lookup;
mod proxy;
mod stream;
mod tls;

pub use call::{Answer, BadCaller, Caller, Calls, HttpRequest};
pub use destinations::{Destinations, Forbidden};
pub use fault::Fault;
pub use lookup::{Lookup, SystemLookup};
pub use proxy::{BadProxy, Proxy};
pub use stream::{Connection, Duplex, Place, UNACKNOWLEDGED, UNACKNOWLEDGED_FOR};
