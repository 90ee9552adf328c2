//! A typed client of the Customer API.
//!
//! One method an endpoint. An error says what the server said, in its own
//! sentence.

mod account;
mod actions;
mod alarms;
mod call;
mod error;
mod firewall;
mod instances;
mod integrations;
mod messages;
mod nodes;
mod segment;
mod topics;
mod users;
mod vpcs;

pub use call::Piecewise;
pub use error::{Error, Result};
pub use messages::ReadMessages;
pub use nodes::ReadMetrics;
pub use url::Url;

use call::Caller;
use model::Secret;

/// Talks to one Customer API with one key; cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    call: Caller,
}

impl Client {
    /// `base` is the address of the Customer API, such as
    /// `http://127.0.0.1:8080`.
    pub fn new(base: &Url, apikey: Secret) -> Result<Self> {
        Ok(Self { call: Caller::new(base, apikey, None)? })
    }

    /// The same for an API whose certificate is of a private authority.
    pub fn with_authority(base: &Url, apikey: Secret, authority_pem: &str) -> Result<Self> {
        Ok(Self { call: Caller::new(base, apikey, Some(authority_pem))? })
    }
}
