//! What accounts pay: metered from histories, billed by the month, frozen when
//! the month is over.

mod bill;
mod customer;
mod invoices;
mod issue;
mod meter;
mod paid;
mod period;
mod prices;

pub use customer::{CustomerChanges, update_customer};
pub use invoices::{Months, list, read};
pub use issue::issue_due;
pub use meter::lines;
pub use paid::{Payment, list_all, paid};
pub use period::{Period, period};
pub use prices::settle_prices;
pub use store::InvoiceSummary;
