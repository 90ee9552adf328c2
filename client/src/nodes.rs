//! Calls of `/api/instances/<ID>/nodes`.

use crate::{Client, Result};
use wire::nodes::Node;

impl Client {
    /// Its servers; none before they exist.
    pub async fn nodes(&self, id: i64) -> Result<Vec<Node>> {
        self.call.get(&format!("api/instances/{id}/nodes")).await
    }
}
