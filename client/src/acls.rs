//! Calls of `/api/instances/<ID>/acls`.

use crate::{Client, Result};
use reqwest::Method;
use wire::customer::Message;
use wire::users::{Acl, CreateAcls};

impl Client {
    pub async fn acls(&self, id: i64) -> Result<Vec<Acl>> {
        self.call.get(&format!("api/instances/{id}/acls")).await
    }

    /// All of the rules or none; those that were there keep their id.
    pub async fn create_acls(&self, id: i64, new: &CreateAcls) -> Result<Vec<Acl>> {
        self.call.send(Method::POST, &format!("api/instances/{id}/acls"), new).await
    }

    pub async fn delete_acl(&self, id: i64, acl: i64) -> Result<Message> {
        self.call.delete_for(&format!("api/instances/{id}/acls/{acl}")).await
    }
}
