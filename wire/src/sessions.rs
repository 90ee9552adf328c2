//! Bodies of `/api/sessions`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One element of `GET /api/sessions`: somebody is signed in to the console.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionEntry {
    #[schemars(extend("format" = "uuid"))]
    pub id: String,
    pub started_at: Timestamp,
    /// To the minute.
    pub last_seen_at: Timestamp,
    /// When it ends if nobody is seen again.
    pub ends_at: Timestamp,
    /// Where it was started from.
    pub address: Option<String>,
    /// As the browser calls itself.
    pub browser: String,
}
