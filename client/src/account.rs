//! Calls about the account: `/api/account`, `/api/plans`, `/api/regions`, `/api/team`,
//! `/api/apikeys`, `/api/sessions`, `/api/invoices` and `/api/auditlog`.

use crate::call::Piecewise;
use crate::segment::segment;
use crate::{Client, Result};
use reqwest::Method;
use wire::account::{Account, UpdateAccount};
use wire::apikeys::{ApiKeyEntry, CreateApiKey, CreatedApiKey, RotatedKey};
use wire::billing::{Invoice, InvoiceEntry};
use wire::customer::{Message, Plan, Region};
use wire::sessions::SessionEntry;
use wire::team::{Invite, RemoveMember, RemovedMember, TeamMember, UpdateMember};

impl Client {
    pub async fn plans(&self) -> Result<Vec<Plan>> {
        self.call.get("api/plans").await
    }

    pub async fn regions(&self) -> Result<Vec<Region>> {
        self.call.get("api/regions").await
    }

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

    pub async fn account(&self) -> Result<Account> {
        self.call.get("api/account").await
    }

    pub async fn update_account(&self, changes: &UpdateAccount) -> Result<Message> {
        self.call.send(Method::PUT, "api/account", changes).await
    }

    /// The caller's own keys; for admins those of the whole account.
    pub async fn apikeys(&self) -> Result<Vec<ApiKeyEntry>> {
        self.call.get("api/apikeys").await
    }

    pub async fn create_apikey(&self, new: &CreateApiKey) -> Result<CreatedApiKey> {
        self.call.send(Method::POST, "api/apikeys", new).await
    }

    pub async fn delete_apikey(&self, id: &str) -> Result<()> {
        self.call.delete(&format!("api/apikeys/{}", segment(id)?)).await
    }

    /// Where the caller is signed in to the console.
    pub async fn sessions(&self) -> Result<Vec<SessionEntry>> {
        self.call.get("api/sessions").await
    }

    pub async fn end_session(&self, id: &str) -> Result<()> {
        self.call.delete(&format!("api/sessions/{}", segment(id)?)).await
    }

    pub async fn end_sessions(&self) -> Result<()> {
        self.call.delete("api/sessions").await
    }

    /// From here on this client's own key does not work any more.
    pub async fn rotate_apikey(&self) -> Result<RotatedKey> {
        self.call.post("api/apikeys/rotate-apikey").await
    }

    /// Issued invoices of these months (`YYYY-MM`), newest first.
    pub async fn invoices(
        &self,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<Vec<InvoiceEntry>> {
        self.call.get_with("api/invoices", &[("from", from), ("to", to)]).await
    }

    pub async fn invoice(&self, id: i64) -> Result<Invoice> {
        self.call.get(&format!("api/invoices/{id}")).await
    }

    /// What is to be paid for a month (`YYYY-MM`), so far if it is running.
    pub async fn invoice_of(&self, month: &str) -> Result<Invoice> {
        self.call.get_with("api/invoices/period", &[("month", Some(month))]).await
    }

    /// A month (`YYYY-MM`) of the audit log, or the latest, as CSV.
    pub async fn audit_log(&self, month: Option<&str>) -> Result<Piecewise> {
        self.call.get_piecewise("api/auditlog/csv", &[("timestamp", month)]).await
    }
}
