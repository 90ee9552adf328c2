//! Calls about who logs in to Kafka and what they may do: an instance's `users`, `acls` and `ca`.

use crate::segment::segment;
use crate::{Client, Result};
use reqwest::Method;
use wire::ca::{Certificate, Sign};
use wire::customer::Message;
use wire::users::{Acl, CreateAcls, NewUser, User};

impl Client {
    /// By name, the default user among them.
    pub async fn kafka_users(&self, id: i64) -> Result<Vec<User>> {
        self.call.get(&format!("api/instances/{id}/users")).await
    }

    /// The password is told this once.
    pub async fn create_kafka_user(&self, id: i64, new: &User) -> Result<NewUser> {
        self.call.send(Method::POST, &format!("api/instances/{id}/users"), new).await
    }

    /// With everything it may.
    pub async fn delete_kafka_user(&self, id: i64, name: &str) -> Result<Message> {
        self.call.delete_for(&format!("api/instances/{id}/users/{}", segment(name)?)).await
    }

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

    /// The certificate for a request, as PEM, followed by its authority's.
    pub async fn sign_certificate(&self, id: i64, csr: &str) -> Result<String> {
        let sign = Sign { csr: csr.into() };
        self.call.send_for_text(&format!("api/instances/{id}/ca/sign"), &sign).await
    }

    pub async fn certificates(&self, id: i64) -> Result<Vec<Certificate>> {
        self.call.get(&format!("api/instances/{id}/ca/certificates")).await
    }

    pub async fn revoke_certificate(&self, id: i64, serial: &str) -> Result<()> {
        // It becomes a segment of a path; whatever else it holds is no serial.
        let serial: String = serial.chars().filter(char::is_ascii_alphanumeric).collect();
        self.call.delete(&format!("api/instances/{id}/ca/certificates/{serial}")).await
    }
}
