//! `castellan orphans`: what is on this host and not in the store, as after a
//! restore. Nothing of it is ever removed without a person's word.
//!
//! Listing works beside a running control plane. Adopting and removing need it
//! stopped: they change what it takes for its own.

use crate::at::{At, ListArgs, ask};
use crate::backup::{HalfStore, copy, sibling};
use crate::data_dir::DataDir;
use crate::installation::Opened;
use crate::orphan::{Orphan, OrphanId};
use anyhow::{Context, Result, bail};
use app::{Source, SourceKind, audit};
use clap::{Args, Subcommand};
use cloud_local::holdings::{self, Holdings, holdings};
use model::{Clock, Instance, InstanceId, SystemClock};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use store::{Store, adoption, disks, instances, servers, vpcs};

const CLI: Source = Source { kind: SourceKind::Cli, address: None };

#[derive(Subcommand)]
pub enum OrphansCommand {
    /// List them
    List(ListArgs),
    /// Give the instance of a server or disk back to the store
    Adopt(AdoptArgs),
    /// Stop and remove one of them, for good
    Remove(RemoveArgs),
}

#[derive(Args)]
pub struct AdoptArgs {
    /// As the list shows it, such as server/12
    id: OrphanId,
    /// A backup that knows the instance [default: the store before the last restore]
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    at: At,
}

#[derive(Args)]
pub struct RemoveArgs {
    /// As the list shows it, such as server/12
    id: OrphanId,
    /// Don't ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    at: At,
}

pub async fn run(command: OrphansCommand) -> Result<()> {
    match command {
        OrphansCommand::List(args) => list(&args).await,
        OrphansCommand::Adopt(args) => adopt(&args).await,
        OrphansCommand::Remove(args) => remove(&args).await,
    }
}

async fn list(args: &ListArgs) -> Result<()> {
    let data = args.at.data()?;
    let Opened { store, .. } = args.at.open().await?;
    let found = find(&store, &data).await;
    store.close().await;
    let found = found?;
    if args.json {
        println!("{}", found.iter().map(Orphan::json).collect::<serde_json::Value>());
    } else if found.is_empty() {
        eprintln!("Everything on this host is in the store.");
    } else {
        for orphan in &found {
            println!("{orphan}");
        }
    }
    Ok(())
}

/// What the store does not know. A thing that is being deleted right now leaves
/// the host before it leaves the store, so what is still on the host after the
/// store was read is no such thing.
async fn find(store: &Store, data: &DataDir) -> Result<Vec<Orphan>> {
    let mut found = holdings(&data.host())?;
    let mut reader = store.reader();
    let known: HashSet<_> = servers::ids(&mut reader).await?.into_iter().collect();
    found.servers.retain(|server| !known.contains(&server.id));
    let known: HashSet<_> = disks::ids(&mut reader).await?.into_iter().collect();
    found.disks.retain(|disk| !known.contains(&disk.id));
    let known: HashSet<_> = vpcs::ids(&mut reader).await?.into_iter().collect();
    found.networks.retain(|network| !known.contains(network));
    let still = holdings(&data.host())?;
    found.servers.retain(|server| still.servers.iter().any(|it| it.id == server.id));
    found.disks.retain(|disk| still.disks.iter().any(|it| it.id == disk.id));
    found.networks.retain(|network| still.networks.contains(network));
    let Holdings { servers, disks, networks } = found;
    let servers = servers.into_iter().map(Orphan::Server);
    let disks = disks.into_iter().map(Orphan::Disk);
    Ok(servers.chain(disks).chain(networks.into_iter().map(Orphan::Network)).collect())
}

async fn find_one(store: &Store, data: &DataDir, id: OrphanId) -> Result<Orphan> {
    let found = find(store, data).await?.into_iter().find(|orphan| orphan.id() == id);
    found.with_context(|| {
        format!("{id} is no orphan on this host; `castellan orphans list` lists them")
    })
}

async fn remove(args: &RemoveArgs) -> Result<()> {
    let data = args.at.data()?;
    let Opened { store, .. } = args.at.open().await?;
    let _lock = data.lock_alone().context("a removal needs the control plane stopped")?;
    let orphan = find_one(&store, &data, args.id).await?;
    if !args.yes {
        ask(&format!("Remove {}?", orphan.with_what()))?;
    }
    note_removal(&store, &orphan).await?;
    store.close().await;
    match orphan.id() {
        OrphanId::Server(id) => holdings::remove_server(&data.host(), id).await?,
        OrphanId::Disk(id) => holdings::remove_disk(&data.host(), id)?,
        OrphanId::Network(id) => holdings::remove_network(&data.host(), id)?,
    }
    eprintln!("Removed {}.", args.id);
    Ok(())
}

/// Most orphans are of instances that nobody knows, so of no account. Where one
/// is known, its owner is told, before the thing is gone.
async fn note_removal(store: &Store, orphan: &Orphan) -> Result<()> {
    let Some(id) = orphan.instance() else { return Ok(()) };
    let mut work = store.begin().await?;
    let Some(instance) = instances::find(&mut work, id).await? else { return Ok(()) };
    let extras = [("instance", id.to_string()), ("orphan", orphan.id().to_string())];
    let (account, now) = (instance.account_id, SystemClock.now());
    audit::operator(&mut work, CLI, account, now, "orphan.remove", &extras).await?;
    Ok(work.commit().await?)
}

async fn adopt(args: &AdoptArgs) -> Result<()> {
    if args.at.config()?.database_url.is_some() {
        bail!(
            "adopting copies rows from one SQLite store into another; with PostgreSQL copy the \
             instance's rows from a restored dump by hand"
        );
    }
    let data = args.at.data()?;
    let Opened { store, installation, .. } = args.at.open().await?;
    let _lock = data.lock_alone().context("an adoption needs the control plane stopped")?;
    let orphan = find_one(&store, &data, args.id).await?;
    let Some(instance) = orphan.instance() else {
        bail!("{} does not say which instance it is of; adopt one of its servers", args.id);
    };
    let key = store.master_key().clone();
    store.close().await;
    let from = args.from.clone().unwrap_or_else(|| data.store_before_restore());
    let half = HalfStore(sibling(&data.store(), "adopt"));
    let known = prepare(&from, &half.0, key.clone(), installation.id, instance).await?;
    let extras = [("id", instance.to_string()), ("name", known.name.to_string())];
    let account = known.account_id;
    let line = audit::operator_line(CLI, account, SystemClock.now(), "instance.adopt", &extras);
    adoption::adopt(&data.store(), &half.0, instance, &key, &line).await?;
    eprintln!("Instance {instance} is in the store again, with all its servers and disks.");
    Ok(())
}

/// A copy of the store that knew the instance, brought up to date.
async fn prepare(
    from: &Path,
    half: &Path,
    key: store::MasterKey,
    installation: uuid::Uuid,
    instance: InstanceId,
) -> Result<Instance> {
    if !from.exists() {
        bail!(
            "the keys and passwords of instance {instance} are only in a store that knew it, and \
             {} is not there; name a backup that was taken after it was made with --from, or copy \
             its data elsewhere and remove it",
            from.display()
        );
    }
    copy(from, half).await?;
    let earlier = Store::open(half, key).await.context("that store can't be used")?;
    let found = store::installation::find(&mut earlier.reader()).await;
    let known = store::instances::find(&mut earlier.reader(), instance).await;
    earlier.close().await;
    if found?.is_none_or(|found| found.id != installation) {
        bail!("{} is of another installation", from.display());
    }
    match known? {
        None => bail!("{} does not know instance {instance} either", from.display()),
        Some(known) if known.deleted_at.is_some() => {
            bail!("instance {instance} was being deleted; remove what is left of it")
        }
        Some(known) => Ok(known),
    }
}
