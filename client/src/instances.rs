//! Calls of `/api/instances`.

use crate::{Client, Result};
use reqwest::Method;
use wire::apikeys::RotatedKey;
use wire::customer::{
    CreateInstance, CreatedInstance, Instance, InstanceEntry, Message, ResizeDisk, UpdateInstance,
    Updated,
};
use wire::instance::{ClusterStatus, Details};

impl Client {
    pub async fn instances(&self) -> Result<Vec<InstanceEntry>> {
        self.call.get("api/instances").await
    }

    /// Those that are being torn down.
    pub async fn instances_deleting(&self) -> Result<Vec<InstanceEntry>> {
        self.call.get("api/instances?deleting=true").await
    }

    pub async fn instance(&self, id: i64) -> Result<Instance> {
        self.call.get(&format!("api/instances/{id}")).await
    }

    pub async fn create_instance(&self, new: &CreateInstance) -> Result<CreatedInstance> {
        self.call.send(Method::POST, "api/instances", new).await
    }

    pub async fn update_instance(&self, id: i64, changes: &UpdateInstance) -> Result<Updated> {
        self.call.send(Method::PUT, &format!("api/instances/{id}"), changes).await
    }

    /// What the same change would do; nothing is done.
    pub async fn plan_update(&self, id: i64, changes: &UpdateInstance) -> Result<Updated> {
        self.call.send(Method::PUT, &format!("api/instances/{id}?dry_run=true"), changes).await
    }

    /// Gives every server a larger disk.
    pub async fn resize_disk(&self, id: i64, disk: &ResizeDisk) -> Result<Message> {
        self.call.send(Method::PUT, &format!("api/instances/{id}/disk"), disk).await
    }

    pub async fn delete_instance(&self, id: i64) -> Result<()> {
        self.call.delete(&format!("api/instances/{id}")).await
    }

    /// How to connect to the instance.
    pub async fn details(&self, id: i64) -> Result<Details> {
        self.call.get(&format!("api/instances/{id}/details")).await
    }

    pub async fn cluster_status(&self, id: i64) -> Result<ClusterStatus> {
        self.call.get(&format!("api/instances/{id}/cluster/status")).await
    }

    /// Gives the instance another key; the old one stops at once.
    pub async fn rotate_instance_key(&self, id: i64) -> Result<RotatedKey> {
        self.call.post(&format!("api/instances/{id}/account/rotate-apikey")).await
    }

    /// Gives the default user another password, which the instance then tells.
    pub async fn rotate_password(&self, id: i64) -> Result<()> {
        self.call.post_for_nothing(&format!("api/instances/{id}/account/rotate-password")).await
    }
}
