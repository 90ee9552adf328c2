//! `castellan account`: works on the store, beside a running server or without
//! one.

use crate::at::{At, ListArgs};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::{installation, store_app};
use anyhow::{Result, bail};
use app::accounts::CreatedAccount;
use app::billing::CustomerChanges;
use app::{App, Source, SourceKind};
use clap::{Args, Subcommand};
use model::{Account, AccountId, AccountName, Customer, Email, Entropy, OsEntropy, Secret};

#[derive(Subcommand)]
pub enum AccountCommand {
    /// Make an account with its first user and that user's key
    Create(CreateArgs),
    /// All accounts, oldest first
    List(ListArgs),
    /// Say who an account's next invoices are for
    Update(UpdateArgs),
}

#[derive(Args)]
pub struct UpdateArgs {
    /// The account's id, or its e-mail if no other account has the same
    account: String,
    #[command(flatten)]
    at: At,
    /// Name of the account
    #[arg(long)]
    name: Option<AccountName>,
    /// An empty text takes it away, as for address and country
    #[arg(long)]
    company: Option<String>,
    #[arg(long)]
    address: Option<String>,
    #[arg(long)]
    country: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct CreateArgs {
    #[command(flatten)]
    at: At,
    /// E-mail of the team and of its first user
    #[arg(long)]
    email: String,
    /// Name of the account; the e-mail if absent
    #[arg(long)]
    name: Option<AccountName>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(command: AccountCommand) -> Result<()> {
    match command {
        AccountCommand::Create(args) => run_create(args).await,
        AccountCommand::List(args) => list(args).await,
        AccountCommand::Update(args) => update(args).await,
    }
}

async fn run_create(args: CreateArgs) -> Result<()> {
    // Unlike other commands this one makes the store, if there is none.
    let app = open_app(&args.at.data()?, &args.at.config()?).await?;
    let name = args.name.as_ref().map_or(args.email.as_str(), AccountName::as_str);
    let created = create(&app, name, &args.email, OsEntropy.key()).await?;
    app.store().close().await;
    print(&created, args.json);
    Ok(())
}

async fn list(args: ListArgs) -> Result<()> {
    let (app, operator) = store_app::open(&args.at).await?;
    let accounts = app::accounts::list(operator, &app).await?;
    app.store().close().await;
    if args.json {
        println!("{}", accounts.iter().map(json).collect::<serde_json::Value>());
        return Ok(());
    }
    for account in &accounts {
        let made = account.created_at.strftime("%Y-%m-%d %H:%M").to_string();
        println!("{}  {:<32} made {made}  {}", account.id, account.email, account.name);
    }
    Ok(())
}

async fn update(args: UpdateArgs) -> Result<()> {
    let changes = CustomerChanges {
        account_name: args.name.map(|name| name.as_str().to_owned()),
        company: args.company,
        address: args.address,
        country: args.country,
    };
    let given = [&changes.account_name, &changes.company, &changes.address, &changes.country];
    if given.iter().all(|text| text.is_none()) {
        bail!("nothing to change; give --name, --company, --address or --country");
    }
    // Looked at before anything is made where there is no installation.
    args.at.open().await?.store.close().await;
    let app = open_app(&args.at.data()?, &args.at.config()?).await?;
    let updated = update_account(&app, &args.account, changes).await;
    app.store().close().await;
    let (id, customer) = updated?;
    if args.json {
        println!("{}", serde_json::json!({ "account_id": id, "customer": customer }));
    } else {
        eprintln!("Invoices that are issued from now on say so; those that were stay.");
    }
    Ok(())
}

async fn update_account(
    app: &App,
    account: &str,
    changes: CustomerChanges,
) -> Result<(AccountId, Customer)> {
    let id = store_app::account(app, Some(account)).await?;
    let source = Source { kind: SourceKind::Cli, address: None };
    Ok((id, app::billing::update_customer(source, app, id, changes).await?))
}

/// An app for commands beside the control plane; it can't place servers.
pub async fn open_app(data: &DataDir, config: &Config) -> Result<App> {
    let opened = installation::open(data, config.database_url.as_ref()).await?;
    store_app::app(opened, config)
}

/// Makes the account with a key that the caller has already.
pub async fn create(app: &App, name: &str, email: &str, key: Secret) -> Result<CreatedAccount> {
    if Email::parse(email).is_err() {
        bail!("{email:?} is no e-mail address; give one such as team@example.com");
    }
    let source = Source { kind: SourceKind::Cli, address: None };
    Ok(app::accounts::create_with_key(source, app, name, email, key).await?)
}

fn json(account: &Account) -> serde_json::Value {
    serde_json::json!({
        "id": account.id, "name": account.name, "email": account.email,
        "created_at": account.created_at,
    })
}

fn print(created: &CreatedAccount, json: bool) {
    let key = created.apikey.expose();
    if json {
        let text = serde_json::json!({
            "account_id": created.account.id,
            "user_id": created.owner.id,
            "email": created.owner.email,
            "apikey": key,
        });
        println!("{text}");
    } else {
        println!("Account {} for {}", created.account.id, created.owner.email);
        println!("Customer key (shown only now): {key}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestInstallation;
    use app::Operator;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        account: AccountCommand,
    }

    #[test]
    fn an_account_has_a_name_that_can_be_shown() {
        let create = |name: &str| {
            let line = ["account", "create", "--email", "t@x.test", "--name", name];
            match Line::try_parse_from(line).map(|line| line.account) {
                Ok(AccountCommand::Create(args)) => args.name.map(|name| name.as_str().to_owned()),
                _ => None,
            }
        };
        assert_eq!(create("Acme GmbH"), Some("Acme GmbH".to_owned()));
        for name in ["", " ", "a\nb", "a\u{1b}[2Jb"] {
            assert_eq!(create(name), None, "{name:?}");
        }
    }

    #[tokio::test]
    async fn accounts_are_listed_with_name_and_email() {
        let here = TestInstallation::make(None).await;
        create(&here.app, "Acme", "a@x.test", OsEntropy.key()).await.unwrap();
        let operator = Operator::of_opened_store();
        let mut accounts = app::accounts::list(operator, &here.app).await.unwrap();
        accounts.sort_by(|one, other| one.name.cmp(&other.name));
        let shown: Vec<serde_json::Value> = accounts.iter().map(json).collect();
        assert_eq!(shown.len(), 2);
        assert_eq!(shown[0]["name"], "Acme");
        assert_eq!(shown[0]["email"], "a@x.test");
        assert_eq!(shown[1]["id"], here.account_id().to_string());
        assert!(shown[1]["created_at"].is_string());
    }
}
