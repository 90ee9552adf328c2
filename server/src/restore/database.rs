//! A restored PostgreSQL database goes on from its dump. pg_restore has brought it back,
//! into a database of its own, so that the one before can still be read.

use super::{RestoreArgs, check_owner, go_on, past};
use crate::at;
use anyhow::{Context, Result, bail};
use model::{KeyId, Secret};
use std::collections::BTreeSet;
use store::backup::read;
use store::{Location, Store};

const QUESTION: &str = "Without --old-database-url nothing says what was revoked since the dump, \
    so every customer key that --keep-key does not name is revoked, and every instance gets a \
    new key of its own. Go on?";

pub async fn run(args: &RestoreArgs, url: &Secret, keep: &BTreeSet<KeyId>) -> Result<()> {
    if let Some(file) = &args.file {
        bail!(
            "this installation keeps everything in PostgreSQL; restore {} into a new database \
             with pg_restore while no control plane runs, then run this without a file: \
             castellan restore --database-url <the new one> --old-database-url <the one before>",
            file.display()
        );
    }
    let data = args.at.data()?;
    check_owner(data.path(), rustix::process::geteuid().as_raw())?;
    data.create()?;
    let _lock = data.lock_alone().context("a restore needs the control plane stopped")?;
    let _setting_up = data.lock_setup().await?;
    let at = Location::Postgres(url.clone());
    if !Store::is_set_up(&at).await? {
        bail!("{at} holds no installation; restore the dump into it with pg_restore first");
    }
    let before = match &args.old_database_url {
        Some(old) if old == url => {
            bail!("--old-database-url must name the database before, not the restored one")
        }
        Some(old) => {
            let before = read(old).await.context("the database before can't be read")?;
            if before.installation.is_none() {
                bail!("the database before holds no installation; leave --old-database-url out");
            }
            Some(before)
        }
        None => None,
    };
    if before.is_none() && !args.yes {
        at::ask(QUESTION)?;
    }
    let past = past::of_database(&data, before)?;
    let key = data.load_master_key(&at, true)?;
    let store = Store::open(&at, key).await.with_context(|| format!("{at} can't be opened"))?;
    let restored = go_on(&store, &past, keep).await;
    store.close().await;
    let restored = restored.with_context(|| format!("{at} can't be gone on from"))?;
    eprintln!("{at} goes on from its dump as store epoch {}.", restored.epoch);
    restored.print(&past);
    Ok(())
}
