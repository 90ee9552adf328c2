//! Calls of `/api/vpcs`.

use crate::{Client, Result};
use reqwest::Method;
use wire::customer::{CreateVpc, CreatedVpc, Message, UpdateVpc, Vpc};

impl Client {
    pub async fn vpcs(&self) -> Result<Vec<Vpc>> {
        self.call.get("api/vpcs").await
    }

    pub async fn vpc(&self, id: i64) -> Result<Vpc> {
        self.call.get(&format!("api/vpcs/{id}")).await
    }

    pub async fn create_vpc(&self, new: &CreateVpc) -> Result<CreatedVpc> {
        self.call.send(Method::POST, "api/vpcs", new).await
    }

    pub async fn update_vpc(&self, id: i64, changes: &UpdateVpc) -> Result<Message> {
        self.call.send(Method::PUT, &format!("api/vpcs/{id}"), changes).await
    }

    pub async fn delete_vpc(&self, id: i64) -> Result<()> {
        self.call.delete(&format!("api/vpcs/{id}")).await
    }
}
