//! The operator's verbs of `castellan key`: anybody's keys, on the store, beside a
//! running control plane or without one.

use crate::operator::StoreArgs;
use crate::store_app;
use anyhow::{Context, Result};
use app::Operator;
use app::apikeys::{self, KeyOf, NewKey};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches as _};
use model::{KeyId, Role, Timestamp};

const NOUN: &str = "key";
const CREATE: &str = "create";
const LIST: &str = "list";
const REVOKE: &str = "revoke";
const ALL: &str = "all";
const ACCOUNT: &str = "account";
const USER: &str = "user";
/// What only a key has that people make for themselves.
const EXPIRES_AT: &str = "expires_at";

pub enum OperatorCommand {
    Create(StoreArgs, CreateArgs),
    List(StoreArgs, Option<String>),
    Revoke(StoreArgs, RevokeArgs),
}

pub struct CreateArgs {
    user: String,
    account: Option<String>,
    new: NewKey,
}

#[derive(Args)]
pub struct RevokeArgs {
    /// Its id, as `castellan key list --all` shows it
    key: KeyId,
}

pub fn with_operator_verbs(program: Command) -> Command {
    let revoke = RevokeArgs::augment_args(StoreArgs::augment_args(Command::new(REVOKE)))
        .about("Stop anybody's key (operator, on the data directory)");
    let user = Arg::new(USER)
        .help("Id or e-mail of the user it is for (operator, on the data directory)")
        .conflicts_with(EXPIRES_AT);
    let account = |what| Arg::new(ACCOUNT).long(ACCOUNT).help(what);
    let of = "Id, e-mail or name of the account, where the e-mail is in several (operator)";
    let all = Arg::new(ALL)
        .long(ALL)
        .action(ArgAction::SetTrue)
        .help("Of everybody, where there is one account (operator, on the data directory)");
    let whose = "Of everybody in that account: its id, e-mail or name (operator)";
    program.mut_subcommand(NOUN, |noun| {
        noun.mut_subcommand(CREATE, |create| {
            StoreArgs::augment_args(create.arg(user).arg(account(of).requires(USER)))
        })
        .mut_subcommand(LIST, |list| StoreArgs::augment_args(list.arg(all).arg(account(whose))))
        .subcommand(revoke)
    })
}

pub fn operator_command(matches: &ArgMatches) -> Result<Option<OperatorCommand>, clap::Error> {
    let Some((NOUN, noun)) = matches.subcommand() else { return Ok(None) };
    let Some((verb, given)) = noun.subcommand() else { return Ok(None) };
    let text = |name: &str| given.get_one::<String>(name).cloned();
    Ok(match verb {
        CREATE if given.contains_id(USER) => {
            let role = text("role").map(|text| text.parse::<Role>());
            let role = role.transpose().map_err(|error| {
                clap::Error::raw(clap::error::ErrorKind::InvalidValue, format!("--role {error}\n"))
            })?;
            let tags = given.get_many::<String>("tags").map(|tags| tags.cloned().collect());
            let new = NewKey {
                role,
                tags: tags.unwrap_or_default(),
                comment: text("comment").unwrap_or_default(),
            };
            let user = text(USER).unwrap_or_default();
            let args = CreateArgs { user, account: text(ACCOUNT), new };
            Some(OperatorCommand::Create(StoreArgs::from_matches(given)?, args))
        }
        LIST if given.get_flag(ALL) || given.contains_id(ACCOUNT) => {
            Some(OperatorCommand::List(StoreArgs::from_matches(given)?, text(ACCOUNT)))
        }
        REVOKE => Some(OperatorCommand::Revoke(
            StoreArgs::from_matches(given)?,
            RevokeArgs::from_arg_matches(given)?,
        )),
        _ => None,
    })
}

pub async fn run(command: OperatorCommand) -> Result<()> {
    let operator = Operator::of_opened_store();
    match command {
        OperatorCommand::Create(at, args) => create(operator, &at, args).await,
        OperatorCommand::List(at, account) => list(operator, &at, account.as_deref()).await,
        OperatorCommand::Revoke(at, args) => revoke(operator, &at, &args).await,
    }
}

async fn create(operator: Operator, at: &StoreArgs, args: CreateArgs) -> Result<()> {
    let app = at.open().await?;
    let user = store_app::user(&app, operator, &args.user, args.account.as_deref()).await?;
    let (key, secret) = apikeys::create(operator, &app, user.id, args.new).await?;
    app.store().close().await;
    let secret = secret.expose();
    if at.json {
        let mut text = json(&KeyOf { key, email: user.email });
        text["apikey"] = secret.into();
        println!("{text}");
    } else {
        println!("Key {} of {} ({})", key.id, user.email, key.role);
        println!("Customer key (shown only now): {secret}");
    }
    Ok(())
}

async fn list(operator: Operator, at: &StoreArgs, account: Option<&str>) -> Result<()> {
    let app = at.open().await?;
    let account = store_app::account(&app, account).await?;
    let keys = apikeys::list(operator, &app, account).await?;
    app.store().close().await;
    if at.json {
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

async fn revoke(operator: Operator, at: &StoreArgs, args: &RevokeArgs) -> Result<()> {
    let app = at.open().await?;
    let revoked = apikeys::revoke(operator, &app, args.key).await;
    app.store().close().await;
    let KeyOf { key, email } = revoked
        .with_context(|| format!("key {}; `castellan key list --all` shows the keys", args.key))?;
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
        "expires_at": key.expires_at, "last_used_at": key.last_used_at,
        "last_used_from": key.last_used_from,
    })
}
