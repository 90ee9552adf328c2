//! `castellan account`: works on the store, beside a running server or without
//! one.

use crate::at::At;
use crate::config::{Config, DatabaseArgs};
use crate::data_dir::DataDir;
use crate::{installation, store_app};
use anyhow::{Result, bail};
use app::accounts::CreatedAccount;
use app::billing::CustomerChanges;
use app::{App, Source, SourceKind};
use clap::{Args, Subcommand};
use model::{AccountId, Customer, Email, Entropy, OsEntropy, Secret};
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum AccountCommand {
    /// Make an account with its first user and that user's key
    Create(CreateArgs),
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
    name: Option<String>,
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
    /// The installation's data directory
    #[arg(long, default_value_os_t = DataDir::default_path())]
    data: PathBuf,
    /// The config file of the control plane, if it names a database
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
    /// E-mail of the team and of its first user
    #[arg(long)]
    email: String,
    /// Name of the account; the e-mail if absent
    #[arg(long)]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(command: AccountCommand) -> Result<()> {
    match command {
        AccountCommand::Create(args) => run_create(args).await,
        AccountCommand::Update(args) => update(args).await,
    }
}

async fn run_create(args: CreateArgs) -> Result<()> {
    let data = DataDir::new(&args.data)?;
    let mut config = Config::load(args.config.as_deref())?;
    args.database.apply(&mut config);
    // Unlike other commands this one makes the store, if there is none.
    let app = open_app(&data, &config).await?;
    let name = args.name.as_deref().unwrap_or(&args.email);
    let created = create(&app, name, &args.email, OsEntropy.key()).await?;
    app.store().close().await;
    print(&created, args.json);
    Ok(())
}

async fn update(args: UpdateArgs) -> Result<()> {
    let changes = CustomerChanges {
        account_name: args.name,
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
