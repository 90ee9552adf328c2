//! What the systems that customers chose are sent from here: metrics, and a line or a point
//! that tests whether anything arrives. Logs are sent by agents.
//!
//! How calls are made is up to the operator, and the same for alarms, metrics and agents.

use crate::config;
use crate::mail::authority;
use anyhow::{Context, Result};
use app::integrations::IntegrationTester;
use async_trait::async_trait;
use egress::Caller;
use export::SendPoints;
use model::agent::Outbound;
use model::{
    Clock, Integration, IntegrationKind, IntegrationSystem, LogEvent, LogLevel, LogSource,
    SystemClock, Timestamp,
};
use ship::{Endpoints, Instance, Origin, Outcome, Point, Shipper};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// For how long a connection waits for the next call: metrics of a fleet go to few hosts, and
/// all within a part of each minute.
const KEPT_FOR: Duration = Duration::from_secs(20);
/// For a test, however many calls it takes.
const PATIENCE: Duration = Duration::from_secs(15);
const MINUTE: i64 = 60;

fn rules(config: &config::Outbound) -> Result<Outbound> {
    Ok(Outbound {
        allow_private_addresses: config.allow_private_addresses,
        proxy: config.proxy.clone(),
        authority_pem: authority("outbound.ca", config.ca.as_deref())?,
        endpoints: config.endpoints.overrides(),
    })
}

/// The way to the systems, for who sends there.
#[derive(Clone)]
pub struct Systems {
    rules: Outbound,
    caller: Caller,
    endpoints: Arc<Endpoints>,
}

impl Systems {
    /// Calls nobody yet.
    pub fn new(config: &config::Outbound) -> Result<Self> {
        let rules = rules(config)?;
        let caller = Caller::new(&rules, KEPT_FOR).context("outbound can't be used")?;
        Ok(Self { rules, caller, endpoints: Arc::new(config.endpoints.clone()) })
    }

    /// What the operator wants, as agents are told it.
    pub fn rules(&self) -> &Outbound {
        &self.rules
    }

    fn shipper(&self, integration: &Integration) -> Shipper {
        let Integration { kind, system, config, .. } = integration;
        let (caller, endpoints) = (self.caller.clone(), Arc::clone(&self.endpoints));
        Shipper::new(caller, endpoints, *kind, *system, config.clone())
    }
}

#[async_trait]
impl SendPoints for Systems {
    async fn send(
        &self,
        integration: &Integration,
        instance: &Instance,
        points: &[Point],
        now: Timestamp,
    ) -> Outcome {
        self.shipper(integration).send_points(instance, points, now).await
    }
}

#[async_trait]
impl IntegrationTester for Systems {
    async fn test(&self, origin: &Origin, integration: &Integration) -> Result<String, String> {
        let now = SystemClock.now();
        let mut shipper = self.shipper(integration);
        let sending = async {
            match integration.kind {
                IntegrationKind::Logs => shipper.send_logs(origin, &[line(now)], now).await,
                IntegrationKind::Metrics => {
                    shipper.send_points(&origin.instance, &[point(origin, now)], now).await
                }
            }
        };
        match timeout(PATIENCE, sending).await {
            Ok(outcome) => said(integration, outcome),
            Err(_) => Err(format!(
                "{} did not take it within {} s",
                integration.system,
                PATIENCE.as_secs()
            )),
        }
    }
}

fn line(at: Timestamp) -> LogEvent {
    LogEvent {
        at,
        level: LogLevel::Info,
        source: LogSource::Agent,
        logger: "castellan.integration".into(),
        message: "Somebody tests whether logs arrive; nothing has happened".into(),
    }
}

fn point(origin: &Origin, now: Timestamp) -> Point {
    let minute = now.as_second().div_euclid(MINUTE) * MINUTE;
    Point {
        name: "castellan.kafka.integration_test".into(),
        unit: "",
        at: Timestamp::from_second(minute).unwrap_or(now),
        value: 1.0,
        server: Arc::new(origin.server.clone()),
        label: None,
    }
}

/// Those that take lines over a connection say nothing to them.
fn confirms(system: IntegrationSystem) -> bool {
    !matches!(system, IntegrationSystem::Papertrail | IntegrationSystem::Logentries)
}

fn said(integration: &Integration, outcome: Outcome) -> Result<String, String> {
    let (kind, system) = (integration.kind, integration.system);
    let what = match kind {
        IntegrationKind::Logs => "line",
        IntegrationKind::Metrics => "point",
    };
    match outcome {
        Outcome { trouble: Some(trouble), .. } => Err(trouble.to_string()),
        Outcome { dropped: 1.., .. } => {
            Err(format!("{system} answered, and did not take the {what}"))
        }
        _ if confirms(system) => Ok(format!("{system} took a {what}")),
        _ => Ok(format!("A {what} was sent; {system} confirms none, so look for it there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Secret;

    #[test]
    fn settings_that_cant_work_are_refused_at_start() {
        let check = |config: config::Outbound, expected: &str| {
            let said =
                Systems::new(&config).err().map_or(String::new(), |error| format!("{error:#}"));
            assert!(said.contains(expected), "{said}");
            assert_eq!(said.is_empty(), expected.is_empty(), "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        };
        let proxy = |text: &str| config::Outbound {
            proxy: Some(Secret::new(text)),
            ..config::Outbound::default()
        };
        check(config::Outbound::default(), "");
        check(proxy("http://user:s3cret@proxy.test:3128"), "");
        check(proxy("socks5://user:s3cret@proxy.test"), "the proxy must be an address such as");
        let ca = Some("/nowhere/ca.pem".into());
        check(config::Outbound { ca, ..config::Outbound::default() }, "/nowhere/ca.pem can't be");
    }

    #[test]
    fn agents_are_told_what_the_operator_set() {
        let text = "allow_private_addresses = true\nproxy = \"http://p.test:1\"\n\
                    [endpoints]\nloggly = \"https://gate.test/loggly\"";
        let config: config::Outbound = toml::from_str(text).unwrap();
        let rules = rules(&config).unwrap();
        assert!(rules.allow_private_addresses);
        assert_eq!(rules.proxy, Some(Secret::new("http://p.test:1")));
        assert_eq!(rules.endpoints.len(), 1);
        assert_eq!(Endpoints::of(&rules.endpoints), config.endpoints);
    }
}
