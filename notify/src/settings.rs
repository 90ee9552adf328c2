//! What the operator decides for everything that goes out.

use egress::Proxy;
use std::time::Duration;
use url::Url;

/// How notifications leave, whoever they go to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether addresses that are not public may be called, such as those of
    /// this machine and of private networks.
    pub allow_private_addresses: bool,
    pub endpoints: Endpoints,
    /// For one attempt as a whole.
    pub timeout: Duration,
    /// An authority of others' certificates, as PEM, beside those that this
    /// machine trusts.
    pub authority_pem: Option<String>,
    pub proxy: Option<Proxy>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allow_private_addresses: false,
            endpoints: Endpoints::default(),
            timeout: Duration::from_secs(10),
            authority_pem: None,
            proxy: None,
        }
    }
}

/// Where services are. Their paths are added to what stands here, so a gateway
/// may keep them below a path of its own.
#[derive(Clone, Debug)]
pub struct Endpoints {
    pub pagerduty: Url,
    pub opsgenie: Url,
    pub opsgenie_eu: Url,
    pub victorops: Url,
    pub signl4: Url,
}

impl Default for Endpoints {
    /// As the services document them.
    fn default() -> Self {
        let at = |address: &str| Url::parse(address).expect("these are addresses");
        Self {
            pagerduty: at("https://events.pagerduty.com"),
            opsgenie: at("https://api.opsgenie.com"),
            opsgenie_eu: at("https://api.eu.opsgenie.com"),
            victorops: at("https://alert.victorops.com"),
            signl4: at("https://connect.signl4.com"),
        }
    }
}

/// Why the settings can't be used.
#[derive(Debug, thiserror::Error)]
pub enum BadSettings {
    #[error("the address of {0} must begin with https:// or http://")]
    Endpoint(&'static str),
    #[error(transparent)]
    Caller(#[from] egress::BadCaller),
}

impl Endpoints {
    pub(crate) fn check(&self) -> Result<(), BadSettings> {
        let all = [
            ("PagerDuty", &self.pagerduty),
            ("Opsgenie", &self.opsgenie),
            ("Opsgenie in Europe", &self.opsgenie_eu),
            ("VictorOps", &self.victorops),
            ("SIGNL4", &self.signl4),
        ];
        let callable = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        match all.into_iter().find(|(_, url)| !callable(url)) {
            Some((service, _)) => Err(BadSettings::Endpoint(service)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_called_over_http() {
        let check = |address: &str, good: bool| {
            let endpoints = Endpoints { signl4: address.parse().unwrap(), ..Endpoints::default() };
            let said = endpoints.check().err().map(|error| error.to_string());
            assert_eq!(said.is_none(), good, "{address}: {said:?}");
        };
        assert!(Endpoints::default().check().is_ok());
        check("http://gateway.example.com/signl4/", true);
        check("ftp://gateway.example.com", false);
        check("mailto:ada@example.com", false);
        check("file:///tmp", false);
    }
}
