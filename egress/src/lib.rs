//! Calls that leave the installation for addresses that customers chose: what may be called,
//! how a name is looked up, with which TLS, and what became of the call.
//!
//! Knows neither what is sent nor to which system. Keeps nothing and tries nothing twice.

mod addresses;
mod call;
mod destinations;
mod fault;
mod lookup;
pub mod places;
mod proxy;
mod queue;
mod stream;
mod tls;

pub use call::{Answer, BadCaller, Caller, Calls, HttpRequest};
pub use destinations::{Destinations, Forbidden};
pub use fault::Fault;
pub use lookup::{Lookup, SystemLookup};
pub use proxy::{BadProxy, Proxy};
pub use stream::{Connection, Duplex, Place};
