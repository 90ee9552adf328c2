//! Putting the parts together: store, app, APIs, agents' listener, clouds and
//! engine. Starts whole or not at all; a stop leaves clusters running.

use crate::apis::Apis;
use crate::choose_network::choose_network;
use crate::clouds::Opening;
use crate::config::Config;
use crate::data_dir::{DataDir, Endpoints};
use crate::floor;
use crate::host_facts::{self, HostFacts};
use crate::installation::{self, Opened};
use crate::kafka_ready::KafkaReady;
use crate::listen::{self, Bound};
use crate::mail;
use crate::move_load::Samples;
use crate::notifier::{self, Callable};
use crate::outbound::Systems;
use crate::preflight;
use crate::separation::{self, Found, Separation};
use crate::tasks;
use agent::pool::Pool;
use anyhow::{Context, Result};
use app::{App, RegionCloud};
use cloud::Clouds;
use cloud_local::addresses::AddressMode;
use engine::{Engine, Networks, Parts, Runner};
use export::Exporter;
use host::DirLock;
use kafka::client::{Admin, ProtocolAdmin};
use model::{Catalogue, Clock, HostId, OsEntropy, SignedDuration, SystemClock};
use notify::Outbox;
use reach::RowDial;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use store::{Location, MetricsHistory, Store};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const FLUSH: Duration = Duration::from_secs(1);
const HOST_SEEN: Duration = Duration::from_secs(30);

/// Makes running control planes.
pub struct ControlPlane;

/// A control plane that runs in this process.
pub struct Running {
    pub endpoints: Endpoints,
    pub app: App,
    /// What is low on this host, a sentence each.
    pub remarks: Vec<String>,
    /// Whom a broker for a start-up cache runs as, where instances have uids.
    pub trainer: Option<u32>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
    _lock: DirLock,
}

impl ControlPlane {
    pub async fn start(data: &DataDir, mut config: Config) -> Result<Running> {
        let catalogue = Arc::new(config.catalogue()?);
        let mailer = mail::mailer(&config.mail, data)?;
        let systems = Systems::new(&config.outbound)?;
        let notifier = notifier::notifier(&config.outbound, systems.rules(), Arc::clone(&mailer))?;
        let is_new = !data.path().exists();
        let (lock, network) = enter(data, &mut config).await?;
        host_facts::raise_open_files();
        let facts = HostFacts::read(&data.host());
        // Before the store is made: a wrong clock would spoil its authority.
        preflight::check(&facts)?;
        let (separation, bound, said) = settle(data, &config).inspect_err(|_| {
            // A start that can't be leaves nothing behind.
            if is_new {
                let _ = data.purge();
            }
        })?;
        let opened = installation::open(data, config.database_url.as_ref()).await?;
        let Opened { store, installation, host_id } = &opened;
        let host_id = *host_id;
        let created_at = Some(installation.created_at);
        let facts = HostFacts { now: SystemClock.now(), store_created_at: created_at, ..facts };
        let mut remarks = remarks_on(&facts, &config)?;
        remarks.extend(said.into_iter().chain(network));
        see_host(store, host_id).await.context("this host can't be noted in the store")?;
        let endpoints = endpoints(&config, &bound)?;
        if config.api.public_url.is_none() {
            remarks.extend(listen::unreachable_links(bound.customer.local_addr()?));
            config.api.public_url = Some(endpoints.customer.parse()?);
        }

        let opening = Opening {
            data,
            config: &config,
            catalogue: &catalogue,
            opened: &opened,
            endpoints: &endpoints,
            separation: separation.as_ref(),
            agents_port: bound.agent.local_addr()?.port(),
        };
        let (clouds, called_at, said) = opening.open().await?;
        remarks.extend(said);
        let pool = opening.pool()?;
        let asked = clouds.map(|cloud| cloud.asked.clone());
        let callable = Callable(notifier.clone());
        let app = make_app(&opened, &config, &catalogue, asked, callable, systems.clone());
        let at = installation::location(data, config.database_url.as_ref());
        let app = with_history(app, &at, &mut remarks).await;
        apply_config(&app).await?;
        // One control plane works in a data directory at a time, so the next one there
        // may take up at once what this one held.
        let owner = format!("{host_id} {}", data.path().display());
        let engine = Engine::new(Parts {
            store: store.clone(),
            clouds: clouds.map(|cloud| Arc::clone(&cloud.acts)),
            reach: app.reach().clone(),
            catalogue: Arc::clone(&catalogue),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            installation: installation.clone(),
            host_id,
            owner: owner.clone(),
            settings: engine_settings(&config)?,
        });
        let engine = engine.measured_by(Arc::new(Samples(app.watch().clone())));

        let stop = CancellationToken::new();
        let mut running = JoinSet::new();
        let engine = Arc::new(engine);
        let mut runner = Runner::new(Arc::clone(&engine));
        runner.look_at_everything().await;
        let apis = Apis {
            app: &app,
            config: &config,
            installation,
            agent_url: &endpoints.agent,
            called_at,
            stop: &stop,
        };
        apis.start(&mut running, bound)?;
        running.spawn(runner.run(stop.clone()));
        running.spawn(Networks::new(engine).run(stop.clone()));
        running.spawn(flush_last_seen(app.clone(), stop.clone()));
        running.spawn(tasks::flush_last_used(app.clone(), stop.clone()));
        let (notifier, clock) = (Arc::new(notifier), Arc::new(SystemClock));
        let limits = config.rate_limit.messages;
        let outbox = Outbox { owner, store: store.clone(), clock, mailer, notifier, limits };
        running.spawn(outbox.run(stop.clone()));
        running.spawn(exporter(&app, systems).run(stop.clone()));
        let trainer = separation.map(|separation| separation.trainer);
        if let Some(trainer) = trainer {
            let ready = KafkaReady::new(store, host_id, &config, trainer);
            running.spawn(ready.run(stop.clone()));
        }
        if let Some(pool) = pool {
            running.spawn(keep_pool(pool, stop.clone()));
        }
        running.spawn(keep_host_seen(store.clone(), host_id, stop.clone()));
        running.spawn(tasks::issue_invoices(app.clone(), stop.clone()));
        running.spawn(tasks::seal_audit_log(app.clone(), stop.clone()));
        running.spawn(tasks::tidy(app.clone(), stop.clone()));
        tasks::start_watch(&mut running, app.watch(), config.metrics.history_mb, &stop);
        running.spawn(floor::keep(data.ballast(), stop.clone()));
        data.save_endpoints(&endpoints)?;
        Ok(Running { endpoints, app, remarks, trainer, stop, tasks: running, _lock: lock })
    }
}

/// The data directory for us alone, with what its host lacks for networks.
async fn enter(data: &DataDir, config: &mut Config) -> Result<(DirLock, Option<String>)> {
    data.create()?;
    let lock = data.lock()?;
    data.settle_host(config.local.directory.as_deref())?;
    let network = choose_network(&mut config.local, config.cloud, &data.host()).await?;
    Ok((lock, network))
}

/// What is low on this host, and which ports other connections may take.
fn remarks_on(facts: &HostFacts, config: &Config) -> Result<Vec<String>> {
    let mut remarks = preflight::check(facts)?;
    if let AddressMode::SharedAddress { ports, .. } = config.local.address_mode()? {
        remarks.extend(preflight::shared_ports(facts, &ports));
    }
    Ok(remarks)
}

impl Running {
    /// Returns when a part of the control plane has ended by itself: the rest
    /// would go on without it and nobody would know.
    pub async fn broken(&mut self) {
        if self.tasks.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Ends everything of the control plane, in order, and nothing else.
    pub async fn stop(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
        self.app.store().close().await;
    }
}

/// What may be refused, before anything is made: uids and addresses. With what is to be
/// said of them.
fn settle(data: &DataDir, config: &Config) -> Result<(Option<Separation>, Bound, Vec<String>)> {
    let found = separation::find(config, data)?;
    let bound = listen::bind(&config.listen)?;
    match found {
        Some(Found::Separate(separation)) => {
            data.open_to_uids()?;
            Ok((Some(separation), bound, vec![]))
        }
        Some(Found::Shared(remark)) => Ok((None, bound, vec![remark])),
        None => Ok((None, bound, vec![])),
    }
}

fn endpoints(config: &Config, bound: &Bound) -> Result<Endpoints> {
    let scheme = if config.listen.tls_cert.is_some() { "https" } else { "http" };
    let url = |scheme: &str, listener: &TcpListener| -> Result<String> {
        Ok(format!("{scheme}://{}", listener.local_addr()?))
    };
    Ok(Endpoints {
        customer: url(scheme, &bound.customer)?,
        instance: url(scheme, &bound.instance)?,
        agent: match &config.listen.agent_url {
            Some(url) => url.clone(),
            None => url("https", &bound.agent)?,
        },
    })
}

/// Kafka's own protocol, to servers wherever their rows say that they are reached.
pub fn admin(store: &Store) -> Arc<dyn Admin> {
    Arc::new(ProtocolAdmin::new(Arc::new(RowDial::new(store.clone())), Arc::new(OsEntropy)))
}

/// What the config says that customers or agents are to go by from now on.
async fn apply_config(app: &App) -> Result<()> {
    app::billing::settle_prices(app).await.context("prices can't be settled")?;
    let settled = app::agents::settle_outbound(app).await;
    settled.context("what agents are to know of [outbound] can't be noted in the store")
}

fn exporter(app: &App, systems: Systems) -> Exporter {
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(OsEntropy));
    Exporter::new(app.store().clone(), app.watch().clone(), clock, entropy, Arc::new(systems))
}

fn make_app(
    opened: &Opened,
    config: &Config,
    catalogue: &Arc<Catalogue>,
    clouds: Clouds<RegionCloud>,
    destinations: Callable,
    systems: Systems,
) -> App {
    let mut settings = app::Settings {
        domain: config.domain.clone(),
        seller: config.seller.clone(),
        invitations_per_hour: config.rate_limit.invitations_per_hour,
        max_heap_mb: config.local.max_heap_mb,
        certificate_life: config.certificates.lifetime,
        limits: config.limits,
        messages: config.rate_limit.messages,
        audit_bytes_per_day: i64::from(config.audit.mb_per_day) * 1024 * 1024,
        outbound: systems.rules().clone(),
        ..app::Settings::default()
    };
    if let Some(pool) = config.subnet_pool {
        settings.subnet_pool = pool;
    }
    if let Some(url) = &config.api.public_url {
        settings.public_url = url.to_string();
    }
    App::new(app::Parts {
        store: opened.store.clone(),
        admin: admin(&opened.store),
        catalogue: Arc::clone(catalogue),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(OsEntropy),
        clouds,
        destinations: Arc::new(destinations),
        integration_tester: Arc::new(systems),
        settings,
        installation: opened.installation.clone(),
    })
}

/// A history that can't be opened holds nothing up: metrics are in memory then.
async fn with_history(app: App, at: &Location, remarks: &mut Vec<String>) -> App {
    match MetricsHistory::open(at).await {
        Ok(history) => app.with_metrics_history(history),
        Err(error) => {
            tracing::warn!(%error, "the history of metrics can't be opened; going on without");
            remarks.push(format!(
                "metrics are kept in memory alone, because their history can't be opened ({error}); \
                 if metrics.db is broken, remove it and start again"
            ));
            app
        }
    }
}

fn engine_settings(config: &Config) -> Result<engine::Settings> {
    Ok(engine::Settings {
        plaintext: config.local.has_plaintext()?,
        max_heap_mb: config.local.max_heap_mb,
        lease: SignedDuration::from_secs(config.engine.lease_seconds.into()),
        certificate_life: config.certificates.lifetime,
        ..engine::Settings::default()
    })
}

/// Agents' signs of life are written in batches.
async fn flush_last_seen(app: App, stop: CancellationToken) {
    let mut tick = tokio::time::interval(FLUSH);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tick.tick() => {
                if let Err(error) = app::agents::flush_last_seen(&app).await {
                    tracing::warn!(%error, "signs of life could not be written");
                }
            }
        }
    }
}

/// The JVMs that wait end with us.
async fn keep_pool(pool: Pool, stop: CancellationToken) {
    stop.run_until_cancelled(pool.keep()).await;
}

/// Other control planes on the same store see that this host is there.
async fn keep_host_seen(store: Store, host_id: HostId, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(HOST_SEEN) => {
                if let Err(error) = see_host(&store, host_id).await {
                    tracing::warn!(%error, "this host's sign of life could not be written");
                }
            }
        }
    }
}

async fn see_host(store: &Store, host_id: HostId) -> store::Result<()> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let mut work = store.begin().await?;
    store::hosts::set_seen(&mut work, host_id, name.trim(), SystemClock.now()).await?;
    work.commit().await
}
