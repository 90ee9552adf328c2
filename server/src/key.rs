//! `castellan key`: customer keys. Works on the store, beside a running control
//! plane or without one.

use crate::at::{AccountListArgs, At};
use crate::store_app;
use anyhow::{Context, Result};
use app::apikeys::{self, KeyOf, NewKey};
use clap::{Args, Subcommand};
use model::{KeyId, Role, Timestamp};

#[derive(Subcommand)]
pub enum KeyCommand {
    /// Make a key for a user; it is shown only now
    Create(CreateArgs),
    /// The keys of an account's users, without the keys themselves
    List(AccountListArgs),
    /// Stop a key
    Revoke(RevokeArgs),
}

#[derive(Args)]
pub struct CreateArgs {
    /// Id or e-mail of the user
    user: String,
    #[command(flatten)]
    at: At,
    /// Id, e-mail or name of the account, where the e-mail is in several
    #[arg(long)]
    account: Option<String>,
    /// What it is for
    #[arg(long, default_value = "")]
    comment: String,
    /// Less than the user's own role
    #[arg(long)]
    role: Option<Role>,
    /// Fewer than the user's own tags, comma-separated
    #[arg(long, value_delimiter = ',')]
    tags: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct RevokeArgs {
    /// Its id, as `castellan key list` shows it
    key: KeyId,
    #[command(flatten)]
    at: At,
}

pub async fn run(command: KeyCommand) -> Result<()> {
    match command {
        KeyCommand::Create(args) => create(args).await,
        KeyCommand::List(args) => list(args).await,
        KeyCommand::Revoke(args) => revoke(args).await,
    }
}

async fn create(args: CreateArgs) -> Result<()> {
    let (app, operator) = store_app::open(&args.at).await?;
    let user = store_app::user(&app, operator, &args.user, args.account.as_deref()).await?;
    let new = NewKey { role: args.role, tags: args.tags, comment: args.comment };
    let (key, secret) = apikeys::create(operator, &app, user.id, new).await?;
    app.store().close().await;
    let secret = secret.expose();
    if args.json {
        let mut text = json(&KeyOf { key, email: user.email });
        text["apikey"] = secret.into();
        println!("{text}");
    } else {
        println!("Key {} of {} ({})", key.id, user.email, key.role);
        println!("Customer key (shown only now): {secret}");
    }
    Ok(())
}

async fn list(args: AccountListArgs) -> Result<()> {
    let (app, operator) = store_app::open(&args.at).await?;
    let account = store_app::account(&app, args.account.as_deref()).await?;
    let keys = apikeys::list(operator, &app, account).await?;
    app.store().close().await;
    if args.json {
        println!("{}", keys.iter().map(json).collect::<serde_json::Value>());
        return Ok(());
    }
    for KeyOf { key, email } in &keys {
        let used =
            key.last_used_at.map_or("never used".into(), |at| format!("used {}", minute(at)));
        println!("{}  {email:<32} {:<15} {used:<22} {}", key.id, key.role.as_str(), key.comment);
    }
    Ok(())
}

async fn revoke(args: RevokeArgs) -> Result<()> {
    let (app, operator) = store_app::open(&args.at).await?;
    let revoked = apikeys::revoke(operator, &app, args.key).await;
    app.store().close().await;
    let KeyOf { key, email } = revoked
        .with_context(|| format!("key {}; `castellan key list` shows the keys", args.key))?;
    println!("Key {} of {email} has stopped", key.id);
    Ok(())
}

fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

fn json(of: &KeyOf) -> serde_json::Value {
    let KeyOf { key, email } = of;
    serde_json::json!({
        "id": key.id, "user_id": key.user_id, "email": email, "role": key.role,
        "tags": key.tags, "comment": key.comment, "created_at": key.created_at,
        "last_used_at": key.last_used_at,
    })
}
