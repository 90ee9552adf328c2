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

/// Calls the systems, by the operator's rules.
#[derive(Clone)]
pub struct Systems {
    rules: Outbound,
    caller: Caller,
    endpoints: Arc<Endpoints>,
}

impl Systems {
    /// Makes no call yet.
    pub fn new(config: &config::Outbound) -> Result<Self> {
        let rules = rules(config)?;
        let caller = Caller::new(&rules, KEPT_FOR).context("outbound can't be used")?;
        Ok(Self { rules, caller, endpoints: Arc::new(config.endpoints.clone()) })
    }

    /// The operator's rules, as agents are given them.
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
        patience: Duration,
    ) -> Outcome {
        self.shipper(integration).send_points(instance, points, now, patience).await
    }
}

#[async_trait]
impl IntegrationTester for Systems {
    async fn test(&self, origin: &Origin, integration: &Integration) -> Result<String, String> {
        let now = SystemClock.now();
        let mut shipper = self.shipper(integration);
        let outcome = match integration.kind {
            IntegrationKind::Logs => shipper.send_logs(origin, &[line(now)], now, PATIENCE).await,
            IntegrationKind::Metrics => {
                let points = [point(origin, now)];
                shipper.send_points(&origin.instance, &points, now, PATIENCE).await
            }
        };
        outcome_sentence(integration, outcome)
    }
}

fn line(at: Timestamp) -> LogEvent {
    LogEvent {
        at,
        level: LogLevel::Info,
        source: LogSource::Agent,
        logger: "castellan.integration".into(),
        message: "This line tests whether logs arrive; nothing has happened".into(),
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

/// Systems that take lines over a connection answer nothing.
fn confirms(system: IntegrationSystem) -> bool {
    !matches!(system, IntegrationSystem::Papertrail | IntegrationSystem::Logentries)
}

fn outcome_sentence(integration: &Integration, outcome: Outcome) -> Result<String, String> {
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
    use model::{InstanceId, IntegrationId, Secret};

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

    #[tokio::test]
    async fn what_a_test_says_has_no_key_in_it() {
        const KEY: &str = "key-that-leaked";
        // Nothing listens there any more, so every call fails in its own words.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        drop(listener);
        let ours = serde_json::to_value(Endpoints::default()).unwrap();
        let scheme = |name: &str| if name == "logentries" { "tls" } else { "https" };
        let names = ours.as_object().unwrap().keys();
        let elsewhere = names.map(|name| (name.clone(), format!("{}://{at}", scheme(name))));
        let endpoints = Endpoints::with_overrides(&elsewhere.collect());
        let config = config::Outbound {
            allow_private_addresses: true,
            endpoints,
            ..config::Outbound::default()
        };
        let systems = Systems::new(&config).unwrap();
        let server = ship::Server { name: "a-01".into(), hostname: "a.test".into() };
        let instance = Instance { id: InstanceId(1), name: "orders".into(), tags: vec![] };
        let origin = Origin { instance, server };
        let kinds = IntegrationKind::ALL.into_iter();
        for (kind, system) in
            kinds.flat_map(|kind| IntegrationSystem::ALL.map(|system| (kind, system)))
        {
            let value = |name: &str| match name {
                "url" | "host_port" => at.to_string(),
                "endpoint" => format!("https://{at}"),
                "region" if system == IntegrationSystem::Datadog => "eu".into(),
                "region" => "eu-west-1".into(),
                "email" => "ada@example.test".into(),
                "headers" => format!("api-key={KEY}"),
                _ => KEY.into(),
            };
            let config = system.fields().iter().map(|field| field.name);
            let config = config.map(|name| (name.to_owned(), Secret::new(value(name)))).collect();
            let integration = Integration {
                id: IntegrationId(1),
                kind,
                system,
                config,
                error: String::new(),
                created_at: SystemClock.now(),
            };
            let said = systems.test(&origin, &integration).await.unwrap_err();
            assert!(!said.contains(KEY), "{kind} {system}: {said}");
            let is_sent = system.takes(kind);
            assert_eq!(said.contains("127.0.0.1"), is_sent, "{kind} {system}: {said}");
        }
    }

    #[test]
    fn agents_get_the_operator_s_rules() {
        let text = "allow_private_addresses = true\nproxy = \"http://p.test:1\"\n\
                    [endpoints]\nloggly = \"https://gate.test/loggly\"";
        let config: config::Outbound = toml::from_str(text).unwrap();
        let rules = rules(&config).unwrap();
        assert!(rules.allow_private_addresses);
        assert_eq!(rules.proxy, Some(Secret::new("http://p.test:1")));
        assert_eq!(rules.endpoints.len(), 1);
        assert_eq!(Endpoints::with_overrides(&rules.endpoints), config.endpoints);
    }
}
