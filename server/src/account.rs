//! `castellan account create`: works on the store, beside a running server or
//! without one.

use crate::config::{Config, DatabaseArgs};
use crate::data_dir::DataDir;
use crate::installation::{self, Opened};
use crate::places::LocalPlaces;
use anyhow::{Result, bail};
use app::accounts::CreatedAccount;
use app::{App, Source, SourceKind};
use clap::{Args, Subcommand};
use model::{Catalogue, Entropy, OsEntropy, Secret, SystemClock};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Subcommand)]
pub enum AccountCommand {
    /// Make an account with its first user and that user's key
    Create(CreateArgs),
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
    let AccountCommand::Create(args) = command;
    let data = DataDir::new(&args.data)?;
    let mut config = Config::load(args.config.as_deref())?;
    args.database.apply(&mut config);
    let app = open_app(&data, &config).await?;
    let name = args.name.as_deref().unwrap_or(&args.email);
    let created = create(&app, name, &args.email, OsEntropy.key()).await?;
    app.store().close().await;
    print(&created, args.json);
    Ok(())
}

/// An app for commands beside the control plane; it can't place servers.
async fn open_app(data: &DataDir, config: &Config) -> Result<App> {
    let Opened { store, installation, host_id } =
        installation::open(data, config.database_url.as_ref()).await?;
    let mode = config.local.address_mode()?;
    Ok(App::new(
        store,
        Arc::new(Catalogue::built_in()),
        Arc::new(SystemClock),
        Arc::new(OsEntropy),
        Arc::new(LocalPlaces::new(mode, installation.id, host_id)),
        app::Settings::default(),
        installation,
    ))
}

/// Makes the account with a key that the caller has already.
pub async fn create(app: &App, name: &str, email: &str, key: Secret) -> Result<CreatedAccount> {
    if !looks_like_email(email) {
        bail!("{email:?} is no e-mail address; give one such as team@example.com");
    }
    let source = Source { kind: SourceKind::Cli, address: None };
    Ok(app::accounts::create_with_key(source, app, name, email, key).await?)
}

/// Mail servers know better; this only catches slips.
fn looks_like_email(text: &str) -> bool {
    let valid = |part: &str| {
        !part.is_empty()
            && !part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@')
    };
    text.len() <= 254 && text.split_once('@').is_some_and(|(user, host)| valid(user) && valid(host))
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
