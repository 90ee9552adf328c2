//! `/api/invoices`.

pub mod list;
pub mod period;
pub mod read;

use model::{Bill, CURRENCY, Cents, Month};
use wire::billing::{Customer, Invoice, InvoiceLine, Money, Seller, time};

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
