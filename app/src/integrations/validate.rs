//! Whether something can be sent there.

use crate::{App, Asked, Error, Result};
use model::{IntegrationConfig, IntegrationSystem, Secret, Url, split_host_port};
use std::collections::BTreeMap;

/// The settings that were given, by name; those that the system does not have say nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IntegrationFields(pub BTreeMap<&'static str, Secret>);

/// The settings that these fields are, if they are whole and lead nowhere that must not be
/// called.
pub(super) async fn validate(
    app: &App,
    system: IntegrationSystem,
    wanted: Asked<IntegrationFields>,
) -> Result<IntegrationConfig> {
    let (IntegrationFields(given), mut problems) = wanted.open()?;
    for field in system.fields().iter().filter(|field| field.required) {
        problems.required(field.name, given.get(field.name));
    }
    let has = |name: &str| system.fields().iter().any(|field| field.name == name);
    let written = given.iter().filter(|(name, _)| has(name));
    let written = written.map(|(name, value)| (*name, value.expose()));
    let config = match system.config(written) {
        Ok(config) => config,
        Err((field, wrong)) => {
            if !problems.has(&field) {
                problems.add(&field, wrong.to_string());
            }
            IntegrationConfig::new()
        }
    };
    problems.finish()?;
    if let Some((field, url)) = destination(system, &config)
        && let Err(reason) = app.destinations.may_call(&url).await
    {
        return Err(Error::field(field, reason));
    }
    Ok(config)
}

/// What is called, and the setting that says so, where that is the customer's choice.
pub(super) fn destination(
    system: IntegrationSystem,
    config: &IntegrationConfig,
) -> Option<(&'static str, Url)> {
    let setting = match system {
        IntegrationSystem::Papertrail => "url",
        IntegrationSystem::Splunk => "host_port",
        IntegrationSystem::Otlp => "endpoint",
        IntegrationSystem::Loggly
        | IntegrationSystem::Logentries
        | IntegrationSystem::Cloudwatchlog
        | IntegrationSystem::Cloudwatch
        | IntegrationSystem::Librato
        | IntegrationSystem::Datadog
        | IntegrationSystem::Newrelic => return None,
    };
    let written = config.get(setting)?.expose();
    if system == IntegrationSystem::Otlp {
        return Some((setting, written.parse().ok()?));
    }
    let (host, port) = split_host_port(written)?;
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    Some((setting, format!("https://{host}:{port}/").parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_customer_wrote_is_what_is_called() {
        let check = |system: IntegrationSystem, written: &[(&str, &str)], expected: &str| {
            let config = system.config(written.iter().copied()).unwrap();
            let found = destination(system, &config).map(|(field, url)| format!("{field} {url}"));
            assert_eq!(found.unwrap_or_default(), expected, "{system}");
        };
        use IntegrationSystem::{Loggly, Otlp, Papertrail, Splunk};
        check(Papertrail, &[("url", "logs.test:514")], "url https://logs.test:514/");
        check(Papertrail, &[("url", "tls://[2001:db8::1]:514")], "url https://[2001:db8::1]:514/");
        check(Papertrail, &[("url", "127.1:514")], "url https://127.0.0.1:514/");
        let splunk = [("token", "t"), ("host_port", "splunk.test:8088")];
        check(Splunk, &splunk, "host_port https://splunk.test:8088/");
        check(Otlp, &[("endpoint", "http://10.0.0.1:4318")], "endpoint http://10.0.0.1:4318/");
        check(Loggly, &[("token", "t")], "");
    }
}
