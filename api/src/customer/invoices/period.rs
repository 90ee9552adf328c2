//! `GET /api/invoices/period`.

use super::{document, example};
use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::billing::{self, Period};
use axum::Json;
use axum::extract::State;
use wire::billing::Invoice;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    query: Query,
) -> Result<Json<Invoice>, Failure> {
    let bill = billing::period(&caller, &api.app, query.ask(period)).await?;
    Ok(Json(document(bill)))
}

fn period(fields: &mut Fields) -> Period {
    Period { year: fields.integer("year"), month: fields.text("month") }
}

pub fn about() -> About {
    About::new("Read what is to be paid for a month")
        .needs(Right::SeeInvoices)
        .query(&[
            Input::text("month", "As YYYY-MM, or its number beside year; not in the future")
                .required()
                .like("^([0-9]{4}-(0[1-9]|1[0-2])|0?[1-9]|1[0-2])$")
                .such_as("2026-11"),
            Input::integer("year", "Needed unless month names it").at_least(1).at_most(9999),
        ])
        .json("The invoice, or for a running month what it holds so far", &example())
}
