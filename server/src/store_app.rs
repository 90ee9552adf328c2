//! The app for commands beside the control plane, and whom they mean.

use crate::at::At;
use crate::clouds;
use crate::config::Config;
use crate::control_plane;
use crate::installation::Opened;
use anyhow::{Result, bail};
use app::{App, Operator, team};
use model::{Account, AccountId, Catalogue, InstanceId, OsEntropy, SystemClock, User};
use std::sync::Arc;

/// An app on an opened store; it can't place servers.
pub fn app(opened: Opened, config: &Config) -> Result<App> {
    let catalogue = Arc::new(Catalogue::built_in());
    let clouds = clouds::asked(&catalogue, &opened, config)?;
    let Opened { store, installation, .. } = opened;
    Ok(App::new(app::Parts {
        admin: control_plane::admin(&store),
        store,
        catalogue,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(OsEntropy),
        clouds,
        destinations: Arc::new(app::Anywhere),
        integration_tester: Arc::new(app::integrations::NoTester),
        settings: app::Settings { limits: config.limits, ..app::Settings::default() },
        installation,
    }))
}

/// The app of an installation that is there, and the right to use it.
pub async fn open(at: &At) -> Result<(App, Operator)> {
    let app = app(at.open().await?, &at.config()?)?;
    Ok((app, Operator::of_opened_store()))
}

/// The account that is meant: by id, e-mail or name, or the only one.
pub async fn account(app: &App, named: Option<&str>) -> Result<AccountId> {
    let accounts = store::accounts::list(&mut app.store().reader()).await?;
    let is_meant = |account: &&Account| {
        named.is_none_or(|name| {
            account.id.to_string() == name
                || account.email.eq_ignore_ascii_case(name)
                || account.name == name
        })
    };
    let meant: Vec<&Account> = accounts.iter().filter(is_meant).collect();
    match meant[..] {
        [account] => Ok(account.id),
        [] if accounts.is_empty() => {
            bail!("there is no account yet; make one with: castellan account create --email E")
        }
        [] => bail!("there is no account {}; give its id", named.unwrap_or_default()),
        _ => {
            let ids: Vec<String> =
                meant.iter().map(|account| format!("{} ({})", account.id, account.name)).collect();
            let ids = ids.join(", ");
            match named {
                Some(name) => bail!("several accounts are {name}; give the id of one: {ids}"),
                None => bail!("there are several accounts; say which by --account: {ids}"),
            }
        }
    }
}

/// The instance that is meant: by id, or by a name that no other has.
pub async fn instance(app: &App, text: &str) -> Result<InstanceId> {
    if let Ok(id) = text.parse() {
        return Ok(InstanceId(id));
    }
    let mut found = store::pauses::list(&mut app.store().reader()).await?;
    found.retain(|it| it.name == text);
    match &found[..] {
        [one] => Ok(one.id),
        [] => bail!("there is no instance {text}; `castellan engine status` lists them"),
        several => {
            let ids: Vec<String> = several.iter().map(|it| it.id.to_string()).collect();
            bail!("several instances are called {text}; give an id: {}", ids.join(", "))
        }
    }
}

/// The user that is meant: by id or e-mail, in the account if one is given.
pub async fn user(app: &App, operator: Operator, text: &str, of: Option<&str>) -> Result<User> {
    let mut found = team::find_user(operator, app, text).await?;
    if of.is_some() {
        let account = account(app, of).await?;
        found.retain(|user| user.account_id == account);
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => bail!("there is no user {text}; `castellan user list` shows them"),
        _ => bail!("{text} is in several accounts; say which by --account, or give the user's id"),
    }
}
