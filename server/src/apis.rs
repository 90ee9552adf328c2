//! Starting the three listeners with their routers and certificates.

use crate::agent_listener::AgentListener;
use crate::config::Config;
use crate::listen::Bound;
use anyhow::{Context as _, Result};
use app::App;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use model::{Clock, OsEntropy, SystemClock};
use pki::Authority;
use std::io;
use std::net::{IpAddr, SocketAddrV4, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use store::Installation;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use web::tls::CertificateFiles;
use web::{Connections, Options, RateLimit, listen};

const UPKEEP: Duration = Duration::from_secs(5);
const LOOK_AT_CERTIFICATES: Duration = Duration::from_secs(2);

/// Everything the listeners need to start.
pub struct Apis<'a> {
    pub app: &'a App,
    pub config: &'a Config,
    pub installation: &'a Installation,
    pub agent_url: &'a str,
    /// Where agents in networks of their own call.
    pub called_at: Option<SocketAddrV4>,
    pub stop: &'a CancellationToken,
}

impl Apis<'_> {
    /// Checks all certificates before the first listener serves.
    pub fn start(&self, tasks: &mut JoinSet<()>, bound: Bound) -> Result<()> {
        // A second start in one process keeps the first recorder.
        let metrics = PrometheusBuilder::new().install_recorder().ok();
        if let Some(metrics) = metrics.clone() {
            tasks.spawn(upkeep(metrics, self.stop.clone()));
        }
        let files = self.public_files()?;
        let public = files.as_ref().map(CertificateFiles::served);
        let rate_limit = RateLimit::new(self.config.rate_limit);
        tasks.spawn(rate_limit.clone().keep_tidy(self.stop.clone()));
        let listener = self.agent_listener(&bound.agent)?;
        let agents = listener.served();
        tasks.spawn(keep_certificates(listener, files, self.stop.clone()));
        let limits = self.config.listen.connection_limits();
        let options = Options {
            only_from_proxies: !self.config.listen.behind_proxy.is_empty() && public.is_none(),
            proxies: self.config.listen.behind_proxy.clone(),
            rate_limit,
            connections: Connections::of_apis(limits, &self.config.listen.behind_proxy),
            metrics_from: self.config.metrics.allow.clone(),
            metrics,
            stopping: self.stop.clone(),
            ..Options::default()
        };
        let app = self.app;
        let customer = api::customer_router(app.clone(), options.clone());
        let instance = api::instance_router(app.clone(), options.clone());
        let agent = api::agent_router(app.clone(), options.clone());
        let connections = Connections::of_agents(self.config.listen.agent_connection_limits());
        let of_agents = Options { connections, ..options.clone() };
        for (listener, router, tls, options) in [
            (bound.customer, customer, public.clone(), options.clone()),
            (bound.instance, instance, public, options),
        ] {
            tasks.spawn(log_failure(listen::serve(listener, router, tls, options)));
        }
        // A listener at every address is there as well.
        let is_everywhere = bound.agent.local_addr()?.ip().is_unspecified();
        if let Some(at) = self.called_at.filter(|_| !is_everywhere) {
            let inside = TcpListener::bind(at)
                .with_context(|| format!("agents in networks of their own can't call {at}"))?;
            let (router, tls, options) = (agent.clone(), agents.clone(), of_agents.clone());
            tasks.spawn(log_failure(listen::serve_agents(inside, router, tls, options)));
        }
        tasks.spawn(log_failure(listen::serve_agents(bound.agent, agent, agents, of_agents)));
        Ok(())
    }

    fn public_files(&self) -> Result<Option<CertificateFiles>> {
        let listen = &self.config.listen;
        let (Some(cert), Some(key)) = (&listen.tls_cert, &listen.tls_key) else { return Ok(None) };
        Ok(Some(CertificateFiles::open(cert, key)?))
    }

    fn agent_listener(&self, listener: &TcpListener) -> Result<AgentListener> {
        let authority = Authority {
            certificate: self.installation.fleet_ca.clone(),
            key: self.installation.fleet_ca_key.clone(),
        };
        let life = self.config.certificates.lifetime.duration();
        let mut called = vec![listener.local_addr()?.ip()];
        called.extend(self.called_at.map(|at| IpAddr::from(*at.ip())));
        let now = SystemClock.now();
        AgentListener::open(authority, &called, self.agent_url, life, Arc::new(OsEntropy), now)
    }
}

/// Renews the certificate of the agents' listener, and follows the operator's files.
async fn keep_certificates(
    mut agents: AgentListener,
    mut public: Option<CertificateFiles>,
    stop: CancellationToken,
) {
    let mut tick = tokio::time::interval(LOOK_AT_CERTIFICATES);
    while stop.run_until_cancelled(tick.tick()).await.is_some() {
        if let Err(error) = agents.look(SystemClock.now()) {
            tracing::warn!(%error, "the certificate of the agents' listener can't be renewed");
        }
        if let Some(Err(error)) = public.as_mut().map(CertificateFiles::look) {
            tracing::warn!(%error, "the APIs go on with the certificate from before");
        }
    }
}

async fn log_failure(serving: impl Future<Output = io::Result<()>>) {
    if let Err(error) = serving.await {
        tracing::error!(%error, "a listener failed");
    }
}

/// Without it the samples of every request pile up until somebody reads them.
async fn upkeep(metrics: PrometheusHandle, stop: CancellationToken) {
    let mut tick = tokio::time::interval(UPKEEP);
    while stop.run_until_cancelled(tick.tick()).await.is_some() {
        metrics.run_upkeep();
    }
}
