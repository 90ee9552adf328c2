//! `/api/invoices`.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use crate::path::InvoicePath;
use app::Right;
use app::billing::{self, InvoiceSummary, Months, Period};
use axum::Json;
use model::{Bill, CURRENCY, Cents, Month};
use wire::billing::{Customer, Invoice, InvoiceEntry, InvoiceLine, Money, Seller, time};

/// `2026/11`.
fn period_text(month: Month) -> String {
    month.to_string().replace('-', "/")
}

fn money(Cents(cents): Cents) -> Money {
    Money { cents }
}

fn document(bill: Bill) -> Invoice {
    let total = money(bill.total());
    let line = |line: model::InvoiceLine| InvoiceLine {
        subscription_id: line.instance_id.0,
        amount: money(line.amount),
        from: time(line.from),
        to: time(line.to),
        name: line.name,
        plan: line.plan,
        tags: line.tags,
    };
    let model::Customer { company, address, country, account_name } = bill.customer;
    let customer = Customer { company, address, country, account_name };
    let model::Seller { company, address, zipcode, country, vatid } = bill.seller;
    let seller = Seller { company, address, zipcode, country, vatid };
    Invoice {
        period: period_text(bill.period),
        total,
        currency: CURRENCY.into(),
        lines: bill.lines.into_iter().map(line).collect(),
        customer,
        seller,
    }
}

fn example() -> Invoice {
    let line = InvoiceLine {
        subscription_id: 7,
        amount: Money { cents: 4950 },
        from: "2026-11-01T00:00:00+00:00".into(),
        to: "2026-11-16T00:00:00+00:00".into(),
        name: "orders".into(),
        plan: "mouse-1".into(),
        tags: vec!["prod".into()],
    };
    Invoice {
        period: "2026/11".into(),
        total: line.amount,
        currency: CURRENCY.into(),
        lines: vec![line],
        customer: Customer {
            company: "Acme GmbH".into(),
            address: "Main Street 1, Berlin".into(),
            country: "DE".into(),
            account_name: "Acme".into(),
        },
        seller: Seller {
            company: "Kafka Hosting Ltd".into(),
            address: "Harbour Road 2, Dublin".into(),
            zipcode: "D01 X2Y3".into(),
            country: "IE".into(),
            vatid: "IE1234567X".into(),
        },
    }
}

/// `GET /api/invoices`.
pub async fn list(
    CustomerKey(caller, app): CustomerKey,
    query: Query,
) -> Answer<Vec<InvoiceEntry>> {
    let invoices = billing::list(&caller, &app, query.ask(months)).await?;
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

pub fn about_list() -> About {
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

/// `GET /api/invoices/<id>`.
pub async fn read(
    CustomerKey(caller, app): CustomerKey,
    InvoicePath(id): InvoicePath,
) -> Answer<Invoice> {
    let invoice = billing::read(&caller, &app, id).await?;
    Ok(Json(document(invoice.bill)))
}

pub fn about_read() -> About {
    About::new("Read one invoice")
        .needs(Right::SeeInvoices)
        .json("The invoice, as it was issued", &example())
}

// `GET /api/invoices/period`.
pub async fn period(CustomerKey(caller, app): CustomerKey, query: Query) -> Answer<Invoice> {
    let bill = billing::period(&caller, &app, query.ask(asked_period)).await?;
    Ok(Json(document(bill)))
}

fn asked_period(fields: &mut Fields) -> Period {
    Period { year: fields.integer("year"), month: fields.text("month") }
}

pub fn about_period() -> About {
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
