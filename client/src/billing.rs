//! Calls of `/api/invoices` and `/api/auditlog`.

use crate::call::Piecewise;
use crate::{Client, Result};
use wire::billing::{Invoice, InvoiceEntry};

impl Client {
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
