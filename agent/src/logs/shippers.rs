//! How events leave this host: by the same code and the same rules as the control plane's own
//! calls. What an agent knows of keys and rules is in memory alone.

use super::sender::Ship;
use async_trait::async_trait;
use egress::Caller;
use model::{IntegrationKind, IntegrationSystem, LogEvent, Timestamp};
use ship::{Endpoints, Instance, Origin, Outcome, Server, Shipper};
use std::sync::Arc;
use std::time::Duration;
use wire::agent::{LogIntegration, LogIntegrations, Outbound};

/// For the next batch.
const CONNECTIONS_KEPT_FOR: Duration = Duration::from_secs(30);
/// For a batch, however many calls it takes: what was not sent by then is sent later.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes what sends to a destination.
pub trait ShipperFactory: Send + Sync {
    /// Or why that destination can't be sent to, without a full stop.
    fn shipper(
        &mut self,
        document: &LogIntegrations,
        integration: &LogIntegration,
    ) -> Result<Box<dyn Ship>, String>;
}

/// The real ones, which share what calls.
#[derive(Default)]
pub struct Shippers {
    caller: Option<(Outbound, Result<Caller, String>)>,
}

struct LogShipper {
    shipper: Shipper,
    origin: Origin,
}

#[async_trait]
impl Ship for LogShipper {
    async fn send(&mut self, events: &[LogEvent], now: Timestamp) -> Outcome {
        self.shipper.send_logs(&self.origin, events, now, PATIENCE).await
    }
}

impl ShipperFactory for Shippers {
    fn shipper(
        &mut self,
        document: &LogIntegrations,
        integration: &LogIntegration,
    ) -> Result<Box<dyn Ship>, String> {
        let LogIntegration { system, config, .. } = integration;
        let system = system.parse::<IntegrationSystem>().map_err(|_| {
            format!(
                "this server's agent is of an earlier release that does not know {system}; \
                 have the operator upgrade it"
            )
        })?;
        let caller = self.caller(&document.outbound)?;
        let endpoints = Arc::new(Endpoints::with_overrides(&document.outbound.endpoints));
        let config = config.clone();
        let shipper = Shipper::new(caller, endpoints, IntegrationKind::Logs, system, config);
        Ok(Box::new(LogShipper { shipper, origin: origin(document) }))
    }
}

impl Shippers {
    /// Made once for the same rules: it reads whom this machine trusts.
    fn caller(&mut self, outbound: &Outbound) -> Result<Caller, String> {
        match &self.caller {
            Some((known, caller)) if known == outbound => caller.clone(),
            _ => {
                let made = caller(outbound);
                self.caller = Some((outbound.clone(), made.clone()));
                made
            }
        }
    }
}

fn caller(outbound: &Outbound) -> Result<Caller, String> {
    Caller::new(outbound, CONNECTIONS_KEPT_FOR)
        .map_err(|error| format!("the operator's [outbound] can't be used on this server: {error}"))
}

fn origin(document: &LogIntegrations) -> Origin {
    Origin {
        instance: Instance {
            id: document.instance_id,
            name: document.instance_name.clone(),
            tags: document.tags.clone(),
        },
        server: Server { name: document.server_name.clone(), hostname: document.hostname.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::integrations;
    use model::{IntegrationConfig, IntegrationId, Secret};

    #[test]
    fn a_destination_that_can_t_be_called_has_a_reason() {
        let check = |system: &str, proxy: Option<&str>, authority: Option<&str>, why: &str| {
            let mut document = integrations(1);
            document.outbound.proxy = proxy.map(Secret::new);
            document.outbound.authority_pem = authority.map(str::to_owned);
            let integration = LogIntegration {
                id: IntegrationId(1),
                version: 1,
                system: system.into(),
                config: IntegrationConfig::new(),
            };
            let made = Shippers::default().shipper(&document, &integration);
            let said = made.err().unwrap_or_default();
            assert!(said.contains(why) && said.is_empty() == why.is_empty(), "{said}");
        };
        check("splunk", None, None, "");
        check("splunk", Some("http://user:s3cret@proxy.test:3128"), None, "");
        check("of-a-later-release", None, None, "an earlier release");
        check("splunk", Some("proxy.test"), None, "the proxy must be an address");
        check("splunk", None, Some("no certificate"), "no certificate in PEM");
    }
}
