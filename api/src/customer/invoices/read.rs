//! `GET /api/invoices/<id>`.

use super::{document, example};
use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::InvoicePath;
use crate::state::Api;
use app::{Right, billing};
use axum::Json;
use axum::extract::State;
use wire::billing::Invoice;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    InvoicePath(id): InvoicePath,
) -> Result<Json<Invoice>, Failure> {
    let invoice = billing::read(&caller, &api.app, id).await?;
    Ok(Json(document(invoice.bill)))
}

pub fn about() -> About {
    About::new("Read one invoice")
        .needs(Right::SeeInvoices)
        .json("The invoice, as it was issued", &example())
}
