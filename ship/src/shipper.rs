//! One integration: what it is given it sends in its system's way.

use crate::about::{Instance, Origin, Point};
use crate::budget::Budget;
use crate::destination::{otlp, place, setting, splunk, syslog};
use crate::drive::drive;
use crate::endpoints::Endpoints;
use crate::link::Link;
use crate::outcome::{Outcome, Trouble};
use crate::systems::{
    cloudwatch, cloudwatchlog, datadog, librato, logentries, loggly, newrelic, otlp as otel,
    papertrail, splunk as hec,
};
use egress::Caller;
use model::{IntegrationConfig, IntegrationKind, IntegrationSystem, LogEvent, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Sends to one integration. Cheap to make; one that sends logs over a connection keeps that,
/// and what may not have arrived over the last.
pub struct Shipper {
    caller: Caller,
    endpoints: Arc<Endpoints>,
    kind: IntegrationKind,
    system: IntegrationSystem,
    config: IntegrationConfig,
    link: Link,
}

impl Shipper {
    pub fn new(
        caller: Caller,
        endpoints: Arc<Endpoints>,
        kind: IntegrationKind,
        system: IntegrationSystem,
        config: IntegrationConfig,
    ) -> Self {
        Self { caller, endpoints, kind, system, config, link: Link::default() }
    }

    /// In their order, which is that of time but for a little. Ends within this patience, and
    /// returns what was done by then; a future that is dropped before returns nothing.
    pub async fn send_logs(
        &mut self,
        origin: &Origin,
        events: &[LogEvent],
        now: Timestamp,
        patience: Duration,
    ) -> Outcome {
        if self.kind != IntegrationKind::Logs {
            return self.unfit();
        }
        let sent = self.try_logs(origin, events, &Budget::new(now, patience)).await;
        sent.unwrap_or_else(|| self.unfit())
    }

    /// Of the servers of one instance. Ends as `send_logs` does.
    pub async fn send_points(
        &mut self,
        instance: &Instance,
        points: &[Point],
        now: Timestamp,
        patience: Duration,
    ) -> Outcome {
        if self.kind != IntegrationKind::Metrics {
            return self.unfit();
        }
        let sent = self.try_points(instance, points, &Budget::new(now, patience)).await;
        sent.unwrap_or_else(|| self.unfit())
    }

    /// None: the settings are not this system's.
    async fn try_logs(
        &mut self,
        origin: &Origin,
        events: &[LogEvent],
        budget: &Budget,
    ) -> Option<Outcome> {
        let Self { caller, endpoints, config, link, .. } = self;
        Some(match self.system {
            IntegrationSystem::Papertrail => {
                let dialect = papertrail::Logs::new(origin);
                link.send(caller, &syslog(config)?, &dialect, events, budget).await
            }
            IntegrationSystem::Logentries => {
                let dialect = logentries::Logs::new(setting(config, "token"), origin);
                let place = place(endpoints.logentries.as_str())?;
                link.send(caller, &place, &dialect, events, budget).await
            }
            IntegrationSystem::Loggly => {
                let dialect = loggly::Logs::new(endpoints, config, origin)?;
                drive(caller, &dialect, events, budget).await
            }
            IntegrationSystem::Splunk => {
                let dialect = hec::Logs::new(splunk(config)?, config, origin);
                drive(caller, &dialect, events, budget).await
            }
            IntegrationSystem::Cloudwatchlog => {
                let dialect = cloudwatchlog::Logs::new(endpoints, config, origin)?;
                drive(caller, &dialect, events, budget).await
            }
            IntegrationSystem::Datadog => {
                let dialect = datadog::Logs::new(endpoints, config, origin)?;
                drive(caller, &dialect, events, budget).await
            }
            IntegrationSystem::Otlp => {
                let dialect = otel::Logs::new(otlp(config)?, config, origin)?;
                drive(caller, &dialect, events, budget).await
            }
            IntegrationSystem::Cloudwatch
            | IntegrationSystem::Librato
            | IntegrationSystem::Newrelic => return None,
        })
    }

    async fn try_points(
        &mut self,
        instance: &Instance,
        points: &[Point],
        budget: &Budget,
    ) -> Option<Outcome> {
        let Self { caller, endpoints, config, .. } = self;
        Some(match self.system {
            IntegrationSystem::Cloudwatch => {
                let dialect = cloudwatch::Points::new(endpoints, config, instance)?;
                drive(caller, &dialect, points, budget).await
            }
            IntegrationSystem::Librato => {
                let dialect = librato::Points::new(endpoints, config, instance)?;
                drive(caller, &dialect, points, budget).await
            }
            IntegrationSystem::Datadog => {
                let dialect = datadog::Points::new(endpoints, config, instance)?;
                drive(caller, &dialect, points, budget).await
            }
            IntegrationSystem::Newrelic => {
                let dialect = newrelic::Points::new(endpoints, config, instance)?;
                drive(caller, &dialect, points, budget).await
            }
            IntegrationSystem::Otlp => {
                let dialect = otel::Points::new(otlp(config)?, config, instance)?;
                drive(caller, &dialect, points, budget).await
            }
            IntegrationSystem::Papertrail
            | IntegrationSystem::Loggly
            | IntegrationSystem::Logentries
            | IntegrationSystem::Splunk
            | IntegrationSystem::Cloudwatchlog => return None,
        })
    }

    fn unfit(&self) -> Outcome {
        let trouble = Trouble::unfit(&format!("{} needs for {}", self.system, self.kind));
        Outcome { trouble: Some(trouble), ..Outcome::default() }
    }
}
