//! Opening an installation: its store, and the row that says which one it is.

use crate::data_dir::DataDir;
use anyhow::{Context, Result};
use model::{Clock, Entropy, HostId, OsEntropy, SystemClock};
use pki::Authority;
use store::{Installation, Store};

/// Opens the store of a data directory; makes both if they are not there.
/// Safe beside a running control plane.
pub async fn open(data: &DataDir) -> Result<(Store, Installation)> {
    data.create()?;
    let master_key = data.load_master_key()?;
    let path = data.store();
    let store = Store::open(&path, master_key)
        .await
        .with_context(|| format!("the store {} can't be opened", path.display()))?;
    let installation = ensure(&store).await.context("the store can't be set up")?;
    let ca = data.fleet_ca();
    host::write_atomic(&ca, installation.fleet_ca.as_bytes())
        .with_context(|| format!("{} can't be written", ca.display()))?;
    Ok((store, installation))
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
