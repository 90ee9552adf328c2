//! Starting the three listeners with their routers and certificates.

use crate::config::Config;
use crate::listen::Bound;
use anyhow::{Context, Result};
use api::{Options, RateLimit, listen, tls};
use app::App;
use axum::Router;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use model::{Clock, OsEntropy, Secret, SignedDuration, SystemClock};
use pki::{Authority, Leaf, Usage};
use rustls::ServerConfig;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::Installation;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use url::Url;

const UPKEEP: Duration = Duration::from_secs(5);
/// Renewed with every start.
const AGENT_LISTENER_LIFE: SignedDuration = SignedDuration::from_hours(24 * 397);

/// Everything the listeners need to start.
pub struct Apis<'a> {
    pub app: &'a App,
    pub config: &'a Config,
    pub installation: &'a Installation,
    pub agent_url: &'a str,
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
        let public = self.public_tls()?;
        let rate_limit = RateLimit::new(self.config.rate_limit);
        tasks.spawn(rate_limit.clone().keep_tidy(self.stop.clone()));
        let agents = self.agent_tls(&bound.agent)?;
        let options = Options {
            only_from_proxies: !self.config.listen.behind_proxy.is_empty() && public.is_none(),
            proxies: self.config.listen.behind_proxy.clone(),
            rate_limit,
            metrics_from: self.config.metrics.allow.clone(),
            metrics,
            stopping: self.stop.clone(),
            ..Options::default()
        };
        let app = self.app;
        let customer = api::customer_router(app.clone(), options.clone());
        let instance = api::instance_router(app.clone(), options.clone());
        let agent = api::agent_router(app.clone(), options.clone());
        for (listener, router, tls) in [
            (bound.customer, customer, public.clone()),
            (bound.instance, instance, public),
            (bound.agent, agent, Some(agents)),
        ] {
            tasks.spawn(serve(listener, router, tls, options.clone()));
        }
        Ok(())
    }

    fn public_tls(&self) -> Result<Option<Arc<ServerConfig>>> {
        let listen = &self.config.listen;
        let (Some(cert), Some(key)) = (&listen.tls_cert, &listen.tls_key) else { return Ok(None) };
        let config = tls::server(&read(cert)?, &Secret::new(read(key)?))
            .with_context(|| format!("{} and {} can't be used", cert.display(), key.display()))?;
        Ok(Some(config))
    }

    /// A fresh certificate of the fleet's authority for wherever agents call.
    fn agent_tls(&self, listener: &TcpListener) -> Result<Arc<ServerConfig>> {
        let installation = self.installation;
        let authority = Authority {
            certificate: installation.fleet_ca.clone(),
            key: installation.fleet_ca_key.clone(),
        };
        let called = Url::parse(self.agent_url)
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned))
            .with_context(|| {
                format!("listen.agent_url {:?} is no https address", self.agent_url)
            })?;
        let mut hosts = vec![listener.local_addr()?.ip().to_string(), "localhost".to_owned()];
        if !hosts.contains(&called) {
            hosts.push(called);
        }
        let leaf = Leaf {
            common_name: "castellan control plane".into(),
            hosts,
            usage: Usage::Server,
            valid_for: AGENT_LISTENER_LIFE,
        };
        let (certificate, key) = authority.issue_with_key(&leaf, SystemClock.now(), &OsEntropy)?;
        Ok(tls::agents(&certificate, &key, &installation.fleet_ca)?)
    }
}

async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<Arc<ServerConfig>>,
    options: Options,
) {
    if let Err(error) = listen::serve(listener, router, tls, options).await {
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

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} can't be read", path.display()))
}
