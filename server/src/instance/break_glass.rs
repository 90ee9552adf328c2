//! One instance as its operator reaches it: from the store, past both APIs.

use crate::config::{Config, DatabaseArgs};
use crate::data_dir::DataDir;
use crate::installation::{self, Opened};
use anyhow::{Context, Result, bail};
use app::{Source, SourceKind};
use clap::Args;
use kafka::client::{Broker, Cluster, Identity};
use model::{Clock, DiskId, HostId, Instance, InstanceId, OsEntropy, SignedDuration, SystemClock};
use model::{Integration, IntegrationKind, Secret, ServerId, Timestamp};
use pki::{Authority, Leaf, Usage};
use std::fs;
use std::path::PathBuf;
use store::{AuthorityKind, Run, ServerRecord, Store};

/// What every verb of the operator takes.
#[derive(Args)]
pub struct OperatorArgs {
    /// The instance's id
    pub id: i64,
    #[arg(skip)]
    pub data: Option<PathBuf>,
    /// The config file of the control plane, if it names a database
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
}

/// An instance with everything that belongs to it.
pub struct BrokenGlass {
    pub data: DataDir,
    pub store: Store,
    pub host_id: HostId,
    pub instance: Instance,
    pub servers: Vec<ServerRecord>,
    internal: Authority,
    /// To the systems that its logs and metrics are sent to.
    integration_keys: Vec<Secret>,
}

impl OperatorArgs {
    pub async fn open(&self) -> Result<BrokenGlass> {
        let data = DataDir::new(&self.data.clone().unwrap_or_else(DataDir::default_path))?;
        let mut config = Config::load(self.config.as_deref())?;
        self.database.apply(&mut config);
        // Opening would make an installation where there is none.
        if !data.is_in_use() && config.database_url.is_none() {
            bail!("there is no installation at {}; name it with --data", data.path().display());
        }
        let Opened { store, host_id, .. } =
            installation::open(&data, config.database_url.as_ref()).await?;
        BrokenGlass::read(data, store, host_id, InstanceId(self.id)).await
    }
}

impl BrokenGlass {
    pub async fn read(
        data: DataDir,
        store: Store,
        host_id: HostId,
        id: InstanceId,
    ) -> Result<Self> {
        let mut reader = store.reader();
        let found = store::instances::find(&mut reader, id).await?;
        let instance = found.with_context(|| {
            format!(
                "there is no instance {id} in {}; check the id and --data",
                data.path().display()
            )
        })?;
        let servers = store::servers::list(&mut reader, id).await?;
        let authority = store::authorities::find(&mut reader, id, AuthorityKind::Internal).await?;
        let (certificate, key) = authority
            .with_context(|| format!("instance {id} has no authority; it is being torn down"))?;
        let internal = Authority { certificate, key };
        let integration_keys = integration_keys(&mut reader, id).await?;
        Ok(Self { data, store, host_id, instance, servers, internal, integration_keys })
    }

    /// The internal listeners, and a certificate that is the super user there.
    pub fn cluster(&self, now: Timestamp, valid_for: SignedDuration) -> Result<Cluster> {
        let leaf = Leaf {
            common_name: "castellan-operator".into(),
            hosts: vec![],
            usage: Usage::Client,
            valid_for,
        };
        let (certificate_chain_pem, key_pem) =
            self.internal.issue_with_key(&leaf, now, &OsEntropy)?;
        let brokers = self.servers.iter().filter(|record| record.server.is_broker());
        Ok(Cluster {
            instance: self.instance.id,
            brokers: brokers.map(|record| Broker::internal(&record.server)).collect(),
            trust_pem: self.internal.certificate.clone(),
            identity: Identity { certificate_chain_pem, key_pem },
        })
    }

    /// Everything that nobody else may read: the instance's own, the keys of its integrations,
    /// and what lies in the data directory. Private keys are known by their form.
    pub fn secrets(&self) -> Vec<Secret> {
        let Instance { password, apikey, .. } = &self.instance;
        let files = [self.data.customer_key(), self.data.master_key()];
        let kept = files.into_iter().filter_map(|path| fs::read_to_string(path).ok());
        let own = [password.clone(), apikey.clone()];
        kept.map(Secret::new).chain(own).chain(self.integration_keys.iter().cloned()).collect()
    }

    /// Where the logs of a server of this host are: among its files, or by its disk
    /// where they were set aside while it is stopped.
    pub fn logs_dir(&self, id: ServerId, disk: Option<DiskId>) -> PathBuf {
        let host = self.data.host();
        let own = host.join("servers").join(id.to_string());
        let aside = disk.map(|disk| host.join("logs").join(disk.to_string()));
        aside.filter(|aside| aside.exists() && !own.exists()).unwrap_or(own)
    }

    /// Each break-glass command leaves a line in the account's audit log.
    pub async fn audit(&self, event: &str, extras: &[(&str, String)]) -> Result<()> {
        let source = Source { kind: SourceKind::Cli, address: None };
        let (account, now) = (self.instance.account_id, SystemClock.now());
        let id = ("instance", self.instance.id.to_string());
        let extras: Vec<_> = [id].into_iter().chain(extras.iter().cloned()).collect();
        let mut work = self.store.begin().await?;
        app::audit::operator(&mut work, source, account, now, event, &extras).await?;
        Ok(work.commit().await?)
    }
}

async fn integration_keys(run: &mut impl Run, id: InstanceId) -> Result<Vec<Secret>> {
    let mut keys = Vec::new();
    for kind in IntegrationKind::ALL {
        let found = store::integrations::list(run, id, kind).await?;
        keys.extend(found.iter().flat_map(keys_in));
    }
    Ok(keys)
}

/// Of headers also what is in each, since that may stand somewhere by itself.
fn keys_in(integration: &Integration) -> Vec<Secret> {
    let secret = integration.system.fields().iter().filter(|field| field.secret);
    let values = secret.filter_map(|field| integration.config.get(field.name));
    let with_parts = |value: &Secret| {
        let headers = value.expose().split(',').filter_map(|header| header.split_once('='));
        let parts: Vec<Secret> = headers.map(|(_, value)| Secret::new(value.trim())).collect();
        [value.clone()].into_iter().chain(parts)
    };
    values.flat_map(with_parts).collect()
}
