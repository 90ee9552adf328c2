//! `GET /api/invoices`.

use super::{money, period_text};
use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::billing::{self, InvoiceSummary, Months};
use axum::Json;
use axum::extract::State;
use model::CURRENCY;
use wire::billing::{InvoiceEntry, Money};

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    query: Query,
) -> Result<Json<Vec<InvoiceEntry>>, Failure> {
    let invoices = billing::list(&caller, &api.app, query.ask(months)).await?;
    Ok(Json(invoices.into_iter().map(entry).collect()))
}

fn months(fields: &mut Fields) -> Months {
    Months { from: fields.text("from"), to: fields.text("to") }
}

fn entry(invoice: InvoiceSummary) -> InvoiceEntry {
    InvoiceEntry {
        id: invoice.id.0,
        period: period_text(invoice.period),
        number: invoice.number,
        paid: invoice.paid,
        total: money(invoice.total),
        currency: CURRENCY.into(),
        account_name: invoice.account_name,
    }
}

pub fn about() -> About {
    let example = InvoiceEntry {
        id: 12,
        period: "2026/11".into(),
        number: 12,
        paid: false,
        total: Money { cents: 4950 },
        currency: CURRENCY.into(),
        account_name: "Acme".into(),
    };
    About::new("List the invoices that were issued")
        .needs(Right::SeeInvoices)
        .query(&[
            Input::month("from", "The first month, as YYYY-MM"),
            Input::month("to", "The last month, as YYYY-MM; not before from"),
        ])
        .list("Invoices, newest first", example)
}
