//! Who an account's invoices are for. The operator says so, so it takes no
//! caller.

use crate::{App, Error, Result, Source, audit};
use model::{AccountId, Customer};
use store::invoices;

/// What is given is set, also to nothing; what is not stays.
#[derive(Clone, Debug, Default)]
pub struct CustomerChanges {
    pub account_name: Option<String>,
    pub company: Option<String>,
    pub address: Option<String>,
    pub country: Option<String>,
}

/// Counts for invoices issued from now on. Those that are issued stay.
pub async fn update_customer(
    source: Source,
    app: &App,
    account: AccountId,
    changes: CustomerChanges,
) -> Result<Customer> {
    let mut work = app.store().begin().await?;
    let Some(present) = invoices::find_customer(&mut work, account).await? else {
        return Err(Error::Refused(format!("There is no account {account}")));
    };
    let customer = Customer {
        account_name: changes.account_name.unwrap_or_else(|| present.account_name.clone()),
        company: changes.company.unwrap_or_else(|| present.company.clone()),
        address: changes.address.unwrap_or_else(|| present.address.clone()),
        country: changes.country.unwrap_or_else(|| present.country.clone()),
    };
    if customer == present {
        return Ok(customer);
    }
    invoices::set_customer(&mut work, account, &customer).await?;
    let extras = [
        ("account_name", customer.account_name.clone()),
        ("company", customer.company.clone()),
        ("address", customer.address.clone()),
        ("country", customer.country.clone()),
    ];
    audit::operator(&mut work, source, account, app.now(), "account.update", &extras).await?;
    work.commit().await?;
    Ok(customer)
}
