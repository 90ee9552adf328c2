//! What people say of their own account: what it is called, whom invoices are for, and the
//! team's e-mail.

use crate::{App, Asked, Caller, Error, Problems, Result, Right, audit};
use model::{Account, AccountName, Customer, Email, MailStanding, email_key};
use store::{Run, accounts, invoices, mail_consents};

/// Lengths in characters.
const COMPANY: usize = 128;
const ADDRESS: usize = 512;
const COUNTRY: usize = 64;

/// An account as its own people see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountDetails {
    pub account: Account,
    /// Whom invoices that are issued from now on are for.
    pub customer: Customer,
}

/// What to change, as sent; at least one. Of company, address and country an empty text
/// says something.
#[derive(Clone, Debug, Default)]
pub struct AccountChanges {
    pub name: Option<String>,
    pub company: Option<String>,
    pub address: Option<String>,
    pub country: Option<String>,
    pub email: Option<String>,
}

pub async fn read(caller: &Caller, app: &App) -> Result<AccountDetails> {
    caller.may(Right::ManageAccount)?;
    find(caller, &mut app.store().reader()).await
}

/// Changes what is given. The team's e-mail gets alarms and is asked by nobody, so it can only
/// be one of the team, or one whose owner has agreed to get mail.
pub async fn update(caller: &Caller, app: &App, asked: Asked<AccountChanges>) -> Result<()> {
    caller.may(Right::ManageAccount)?;
    let (changes, problems) = asked.open()?;
    let nothing = is_empty(&changes);
    let checked = check(changes, problems)?;
    if nothing {
        let sentence = "Give at least one of name, company, address, country and email";
        return Err(Error::Refused(sentence.into()));
    }
    let mut work = app.store().begin().await?;
    let caller = caller.confirm(&mut work, Right::ManageAccount).await?;
    let present = find(&caller, &mut work).await?;
    let after = checked.applied_to(&present);
    if after == present {
        return Ok(());
    }
    let email = &after.account.email;
    if email_key(email) != email_key(&present.account.email) {
        let standing = mail_consents::standing(&mut work, caller.account_id, email).await?;
        if !matches!(standing, MailStanding::Team | MailStanding::Confirmed) {
            return Err(Error::field("email", NOT_ASKED));
        }
    }
    invoices::set_customer(&mut work, caller.account_id, &after.customer).await?;
    accounts::set_email(&mut work, caller.account_id, email).await?;
    audit::write(&mut work, &caller, app.now(), "account.update", &extras(&after)).await?;
    Ok(work.commit().await?)
}

const NOT_ASKED: &str = "must be the e-mail of a member of the team, or one whose owner has \
                         confirmed that alarms may go there";

async fn find(caller: &Caller, run: &mut impl Run) -> Result<AccountDetails> {
    let account = accounts::find(run, caller.account_id).await?.ok_or(Error::NOT_AUTHORIZED)?;
    let customer = invoices::find_customer(run, account.id).await?;
    Ok(AccountDetails { account, customer: customer.ok_or(Error::NOT_AUTHORIZED)? })
}

fn is_empty(changes: &AccountChanges) -> bool {
    let AccountChanges { name, company, address, country, email } = changes;
    [name, company, address, country, email].iter().all(|it| it.is_none())
}

struct Checked {
    name: Option<AccountName>,
    company: Option<String>,
    address: Option<String>,
    country: Option<String>,
    email: Option<Email>,
}

impl Checked {
    fn applied_to(self, present: &AccountDetails) -> AccountDetails {
        let AccountDetails { mut account, mut customer } = present.clone();
        if let Some(name) = self.name {
            name.as_str().clone_into(&mut account.name);
            name.as_str().clone_into(&mut customer.account_name);
        }
        account.email = self.email.map_or(account.email, String::from);
        customer.company = self.company.unwrap_or(customer.company);
        customer.address = self.address.unwrap_or(customer.address);
        customer.country = self.country.unwrap_or(customer.country);
        AccountDetails { account, customer }
    }
}

fn check(changes: AccountChanges, mut problems: Problems) -> Result<Checked> {
    let name = changes.name.and_then(|text| problems.take("name", text.parse::<AccountName>()));
    let email = changes.email.and_then(|text| problems.take("email", Email::parse(text)));
    let mut line = |field: &str, text: Option<String>, most: usize, lines: bool| {
        text.and_then(|text| problems.take(field, printed(&text, most, lines)))
    };
    let company = line("company", changes.company, COMPANY, false);
    let address = line("address", changes.address, ADDRESS, true);
    let country = line("country", changes.country, COUNTRY, false);
    problems.finish()?;
    Ok(Checked { name, company, address, country, email })
}

/// A text as an invoice prints it.
fn printed(text: &str, most: usize, lines: bool) -> std::result::Result<String, String> {
    let text = text.trim().replace("\r\n", "\n");
    if text.chars().count() > most {
        return Err(format!("must be at most {most} characters long"));
    }
    if text.chars().any(|c| c.is_control() && !(lines && c == '\n')) {
        return Err("must not contain control characters".into());
    }
    Ok(text)
}

/// A line of the audit log is one line.
fn extras(after: &AccountDetails) -> [(&'static str, String); 5] {
    let AccountDetails { account, customer } = after;
    [
        ("account_name", account.name.clone()),
        ("company", customer.company.clone()),
        ("address", customer.address.replace('\n', ", ")),
        ("country", customer.country.clone()),
        ("email", account.email.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_lines_and_nothing_else_has() {
        let check = |text: &str, lines: bool, expected: Option<&str>| {
            assert_eq!(printed(text, 12, lines).ok().as_deref(), expected, "{text:?}");
        };
        check("Acme", false, Some("Acme"));
        check(" Acme\n", false, Some("Acme"));
        check("", false, Some(""));
        check("a\r\nb", true, Some("a\nb"));
        check("a\nb", false, None);
        check("a\tb", true, None);
        check("a\u{85}b", true, None);
        check("éééééééééééé", false, Some("éééééééééééé"));
        check("ééééééééééééé", false, None);
    }
}
