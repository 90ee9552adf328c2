//! The first account of an installation, and the key of the person who runs it.

use crate::account;
use crate::data_dir::DataDir;
use anyhow::Result;
use app::{App, Source, SourceKind};
use model::Secret;

/// The key kept for that person, of an account that is made if there is none. A
/// key is saved before the store has it, so that no crash can lose it.
pub async fn key(app: &App, data: &DataDir, email: &str) -> Result<Secret> {
    let kept = data.load_customer_key()?;
    let mut reader = app.store().reader();
    if store::apikeys::find(&mut reader, &kept).await?.is_some() {
        return Ok(kept);
    }
    if store::accounts::list(&mut reader).await?.is_empty() {
        account::create(app, "Castellan", email, kept.clone()).await?;
        return Ok(kept);
    }
    // It may have been rotated or revoked, and then it has to stay dead.
    let new = data.renew_customer_key()?;
    let source = Source { kind: SourceKind::Cli, address: None };
    app::accounts::add_owner_key(source, app, &new).await?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestInstallation;
    use app::{Operator, apikeys};
    use model::Role;

    const EMAIL: &str = "t@x.test";

    async fn known(here: &TestInstallation, secret: &Secret) -> Option<Role> {
        let found = store::apikeys::find(&mut here.store().reader(), secret).await.unwrap();
        found.map(|key| key.role)
    }

    #[tokio::test]
    async fn a_kept_key_that_was_revoked_stays_dead() {
        let here = TestInstallation::make(None).await;
        let old = key(&here.app, &here.data, EMAIL).await.unwrap();
        let operator = Operator::of_opened_store();
        let keys = apikeys::list(operator, &here.app, here.account_id()).await.unwrap();
        assert_eq!(keys.len(), 1, "the kept one is used as long as it lives");
        apikeys::revoke(operator, &here.app, keys[0].key.id).await.unwrap();

        let new = key(&here.app, &here.data, EMAIL).await.unwrap();
        assert_eq!(known(&here, &old).await, None);
        assert_eq!(known(&here, &new).await, Some(Role::Admin));
        assert!(here.data.load_customer_key().unwrap() == new, "it is the kept one now");
        assert!(key(&here.app, &here.data, EMAIL).await.unwrap() == new);
        let account = here.account_id();
        let written = store::audit::list(&mut here.store().reader(), account).await.unwrap();
        let line = written.last().unwrap();
        assert_eq!((&*line.event, &*line.user), ("apikey.create", "operator@localhost"));
    }

    #[tokio::test]
    async fn a_new_key_that_a_crash_kept_from_the_store_is_replaced() {
        let here = TestInstallation::make(None).await;
        let lost = here.data.renew_customer_key().unwrap();
        let new = key(&here.app, &here.data, EMAIL).await.unwrap();
        assert_eq!(known(&here, &lost).await, None);
        assert_eq!(known(&here, &new).await, Some(Role::Admin));
    }
}
