//! `castellan user`: people of accounts. Works on the store, beside a running
//! control plane or without one.

use crate::at::{AccountListArgs, At};
use crate::store_app;
use anyhow::{Context, Result, bail};
use app::team::{self, NewUser, UserChanges};
use clap::{Args, Subcommand};
use model::{Secret, User};

#[derive(Subcommand)]
pub enum UserCommand {
    /// Put somebody into an account's team, without an invitation
    Create(CreateArgs),
    /// Who is in an account's team
    List(AccountListArgs),
    /// Change name, role, tags or password, or turn the second factor off
    Update(UpdateArgs),
    /// Remove somebody with all their keys
    Remove(RemoveArgs),
}

#[derive(Args)]
pub struct CreateArgs {
    #[command(flatten)]
    at: At,
    /// Id, e-mail or name of the account; not needed where there is one
    #[arg(long)]
    account: Option<String>,
    #[arg(long)]
    email: String,
    #[arg(long)]
    name: Option<String>,
    /// admin, devops, member, monitor or "billing manager"
    #[arg(long, default_value = "member")]
    role: String,
    /// Tags of the instances they see, comma-separated; for member and monitor
    #[arg(long, value_delimiter = ',')]
    tags: Option<Vec<String>>,
    /// Read a password from standard input
    #[arg(long)]
    password_stdin: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct UpdateArgs {
    /// Id or e-mail
    user: String,
    #[command(flatten)]
    at: At,
    /// Id, e-mail or name of the account, where the e-mail is in several
    #[arg(long)]
    account: Option<String>,
    #[arg(long)]
    name: Option<String>,
    /// admin, devops, member, monitor or "billing manager"
    #[arg(long)]
    role: Option<String>,
    /// Comma-separated; empty for none
    #[arg(long)]
    tags: Option<String>,
    /// Read a new password from standard input; it ends their sessions
    #[arg(long)]
    password_stdin: bool,
    /// Turn the second factor off, for somebody who has lost it
    #[arg(long)]
    no_second_factor: bool,
}

#[derive(Args)]
pub struct RemoveArgs {
    /// Id or e-mail
    user: String,
    #[command(flatten)]
    at: At,
    /// Id, e-mail or name of the account, where the e-mail is in several
    #[arg(long)]
    account: Option<String>,
}

pub async fn run(command: UserCommand) -> Result<()> {
    match command {
        UserCommand::Create(args) => create(args).await,
        UserCommand::List(args) => list(args).await,
        UserCommand::Update(args) => update(args).await,
        UserCommand::Remove(args) => remove(args).await,
    }
}

async fn create(args: CreateArgs) -> Result<()> {
    let password = password(args.password_stdin)?;
    let (app, operator) = store_app::open(&args.at).await?;
    let account = store_app::account(&app, args.account.as_deref()).await?;
    let new = NewUser {
        email: args.email,
        name: args.name,
        role: Some(args.role),
        tags: args.tags,
        password,
    };
    let user = team::create_user(operator, &app, account, new).await?;
    app.store().close().await;
    if args.json {
        println!("{}", json(&user));
    } else {
        println!("User {} ({}, {})", user.id, user.email, user.role);
        println!("A key for them: castellan key create {}", user.email);
    }
    Ok(())
}

async fn list(args: AccountListArgs) -> Result<()> {
    let (app, operator) = store_app::open(&args.at).await?;
    let account = store_app::account(&app, args.account.as_deref()).await?;
    let users = team::list_users(operator, &app, account).await?;
    app.store().close().await;
    if args.json {
        println!("{}", users.iter().map(json).collect::<serde_json::Value>());
        return Ok(());
    }
    for user in &users {
        let tags = user.tags.as_slice().join(",");
        println!(
            "{}  {:<32} {:<15} {:<20} {tags}",
            user.id,
            user.email,
            user.role.as_str(),
            user.name
        );
    }
    Ok(())
}

async fn update(args: UpdateArgs) -> Result<()> {
    let changes = UserChanges {
        name: args.name,
        role: args.role,
        tags: args.tags.map(|text| split(&text)),
        password: password(args.password_stdin)?,
        no_second_factor: args.no_second_factor,
    };
    if changes.name.is_none()
        && changes.role.is_none()
        && changes.tags.is_none()
        && changes.password.is_none()
        && !changes.no_second_factor
    {
        bail!(
            "nothing to change; give --name, --role, --tags, --password-stdin or \
             --no-second-factor"
        );
    }
    let (app, operator) = store_app::open(&args.at).await?;
    let user = store_app::user(&app, operator, &args.user, args.account.as_deref()).await?;
    team::update_user(operator, &app, user.id, changes).await?;
    app.store().close().await;
    println!("User {} ({}) is changed", user.id, user.email);
    Ok(())
}

async fn remove(args: RemoveArgs) -> Result<()> {
    let (app, operator) = store_app::open(&args.at).await?;
    let user = store_app::user(&app, operator, &args.user, args.account.as_deref()).await?;
    let removed = team::remove_user(operator, &app, user.id).await?;
    app.store().close().await;
    println!("User {} ({}) is removed, and their keys have stopped", user.id, user.email);
    if !removed.to_rotate.is_empty() {
        println!("They could read the key and the password of these; have both rotated:");
    }
    for (id, name) in removed.to_rotate {
        println!("  {id}  {name}");
    }
    Ok(())
}

fn split(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// The first line of standard input: arguments can be read by others.
fn password(from_stdin: bool) -> Result<Option<Secret>> {
    if !from_stdin {
        return Ok(None);
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("no password came on standard input")?;
    Ok(Some(Secret::new(line.trim_end_matches(['\r', '\n']))))
}

fn json(user: &User) -> serde_json::Value {
    serde_json::json!({
        "id": user.id, "account_id": user.account_id, "email": user.email, "name": user.name,
        "role": user.role, "tags": user.tags, "tfa_auth_enabled": user.tfa_enabled,
        "created_at": user.created_at,
    })
}
