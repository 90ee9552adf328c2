//! How alarms leave this installation.

use crate::config;
use anyhow::{Context, Result};
use app::Destinations;
use async_trait::async_trait;
use egress::Proxy;
use model::agent::Outbound;
use model::{SystemClock, Url};
use notify::{Endpoints, Mailer, Notifier, Settings};
use std::sync::Arc;

/// Checks the settings; whom they reach shows with the first alarm.
pub fn notifier(
    config: &config::Outbound,
    rules: &Outbound,
    mailer: Arc<dyn Mailer>,
) -> Result<Notifier> {
    let theirs = Endpoints::default();
    let or = |ours: &Option<Url>, theirs: Url| ours.clone().unwrap_or(theirs);
    let settings = Settings {
        allow_private_addresses: rules.allow_private_addresses,
        endpoints: Endpoints {
            pagerduty: or(&config.pagerduty, theirs.pagerduty),
            opsgenie: or(&config.opsgenie, theirs.opsgenie),
            opsgenie_eu: or(&config.opsgenie_eu, theirs.opsgenie_eu),
            victorops: or(&config.victorops, theirs.victorops),
            signl4: or(&config.signl4, theirs.signl4),
        },
        authority_pem: rules.authority_pem.clone(),
        proxy: rules.proxy.as_ref().map(Proxy::parse).transpose().context("outbound.proxy")?,
        ..Settings::default()
    };
    Notifier::new(settings, mailer, Arc::new(SystemClock)).context("outbound can't be used")
}

/// What may be saved as a destination: what may be called.
pub struct Callable(pub Notifier);

#[async_trait]
impl Destinations for Callable {
    async fn may_call(&self, url: &Url) -> Result<(), String> {
        self.0.may_call(url).await
    }
}
