//! Client quotas of a cluster: what users and client ids may use of each broker.

mod change;
mod list;

pub use change::{QuotaFields, remove, set};
pub use kafka::client::quotas::{Name, Quota, QuotaEntity, QuotaKey};
pub use list::list;
