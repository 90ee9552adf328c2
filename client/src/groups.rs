//! Calls of an instance's `groups`.

use crate::segment::segment;
use crate::{Client, Result};
use reqwest::Method;
use wire::groups::{Group, Moved, Reset};

impl Client {
    pub async fn groups(&self, id: i64) -> Result<Vec<Group>> {
        self.call.get(&format!("api/instances/{id}/groups")).await
    }

    pub async fn group(&self, id: i64, name: &str) -> Result<Group> {
        self.call.get(&path(id, name)?).await
    }

    pub async fn delete_group(&self, id: i64, name: &str) -> Result<()> {
        self.call.delete(&path(id, name)?).await
    }

    /// Where the group goes on, or would.
    pub async fn reset_group(&self, id: i64, name: &str, reset: &Reset) -> Result<Vec<Moved>> {
        self.call.send(Method::POST, &format!("{}/reset", path(id, name)?), reset).await
    }
}

fn path(id: i64, name: &str) -> Result<String> {
    Ok(format!("api/instances/{id}/groups/{}", segment(name)?))
}
