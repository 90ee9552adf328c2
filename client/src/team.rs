//! Calls of `/api/team` and `/api/apikeys`.

use crate::{Client, Result};
use reqwest::Method;
use wire::customer::Message;
use wire::team::{Invite, RemoveMember, RemovedMember, RotatedKey, TeamMember, UpdateMember};

impl Client {
    pub async fn team(&self) -> Result<Vec<TeamMember>> {
        self.call.get("api/team").await
    }

    pub async fn invite(&self, invite: &Invite) -> Result<Message> {
        self.call.send(Method::POST, "api/team/invite", invite).await
    }

    pub async fn remove_member(&self, email: &str) -> Result<RemovedMember> {
        let body = RemoveMember { email: email.into() };
        self.call.send(Method::POST, "api/team/remove", &body).await
    }

    pub async fn update_member(&self, id: &str, changes: &UpdateMember) -> Result<Message> {
        self.call.send(Method::PUT, &format!("api/team/{id}"), changes).await
    }

    /// From here on this client's own key does not work any more.
    pub async fn rotate_apikey(&self) -> Result<RotatedKey> {
        self.call.post("api/apikeys/rotate-apikey").await
    }
}
