//! Opening an installation: its store, and the row that says which one it is.

use crate::data_dir::DataDir;
use anyhow::{Context, Result};
use model::{Clock, Entropy, HostId, OsEntropy, Secret, SystemClock};
use pki::Authority;
use store::{Installation, Location, Store};

/// An installation as seen from one data directory.
pub struct Opened {
    pub store: Store,
    pub installation: Installation,
    /// Whose servers' processes belong to this data directory.
    pub host_id: HostId,
}

/// Opens the store of a data directory, or the PostgreSQL that it shares with
/// others; makes what is not there. Safe beside a running control plane.
pub async fn open(data: &DataDir, database_url: Option<&Secret>) -> Result<Opened> {
    data.create()?;
    let _setting_up = data.lock_setup().await?;
    let at = location(data, database_url);
    let failed = || format!("the store ({at}) can't be opened");
    let is_set_up = Store::is_set_up(&at).await.with_context(failed)?;
    let master_key = data.load_master_key(&at, is_set_up)?;
    if matches!(at, Location::Sqlite(_)) {
        data.make_store_private().with_context(failed)?;
    }
    let store = Store::open(&at, master_key).await.with_context(failed)?;
    let installation = ensure(&store).await.context("the store can't be set up")?;
    let host_id = data.load_host_id(match at {
        // One data directory, one host, since the store was made.
        Location::Sqlite(_) => installation.host_id,
        Location::Postgres(_) => HostId(OsEntropy.uuid()),
    })?;
    let ca = data.fleet_ca();
    host::write_private(&ca, installation.fleet_ca.as_bytes())
        .with_context(|| format!("{} can't be written", ca.display()))?;
    Ok(Opened { store, installation, host_id })
}

/// Where its store is.
pub fn location(data: &DataDir, database_url: Option<&Secret>) -> Location {
    database_url
        .map_or_else(|| Location::Sqlite(data.store()), |url| Location::Postgres(url.clone()))
}

async fn ensure(store: &Store) -> Result<Installation> {
    let mut work = store.begin().await?;
    // Looked up under the write lock, so that two processes make only one.
    if let Some(found) = store::installation::find(&mut work).await? {
        return Ok(found);
    }
    let (clock, entropy) = (SystemClock, OsEntropy);
    let authority = Authority::create("Castellan fleet CA", clock.now(), &entropy)?;
    let installation = Installation {
        id: entropy.uuid(),
        host_id: HostId(entropy.uuid()),
        store_epoch: 1,
        fleet_ca: authority.certificate,
        fleet_ca_key: authority.key,
        created_at: clock.now(),
    };
    store::installation::insert(&mut work, &installation).await?;
    work.commit().await?;
    Ok(installation)
}
