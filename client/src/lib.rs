//! A typed client of the Customer API.
//!
//! One method an endpoint. An error says what the server said, in its own
//! sentence.

mod acls;
mod actions;
mod alarms;
mod billing;
mod call;
mod certificates;
mod config;
mod error;
mod groups;
mod instances;
mod messages;
mod metrics;
mod nodes;
mod quotas;
mod segment;
mod team;
mod topics;
mod users;

pub use call::Piecewise;
pub use error::{Error, Result};
pub use messages::ReadMessages;
pub use metrics::ReadMetrics;
pub use url::Url;

use call::Caller;
use model::Secret;
use wire::customer::{Plan, Region};

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

    pub async fn plans(&self) -> Result<Vec<Plan>> {
        self.call.get("api/plans").await
    }

    pub async fn regions(&self) -> Result<Vec<Region>> {
        self.call.get("api/regions").await
    }
}
