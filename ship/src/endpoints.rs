//! Where the systems are. An operator may have them called elsewhere, such as at a gateway;
//! the address of a system that customers run themselves is in an integration's settings.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use url::Url;

/// An address with a place for a region in it, if its system has regions: `{region}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address(String);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadAddress;

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "must begin with https:// or http://, or for logentries with tls:// or tcp:// and \
             end with a port; {region} stands for the region",
        )
    }
}

impl std::error::Error for BadAddress {}

impl Address {
    /// None: with that region it is none.
    pub(crate) fn at(&self, region: &str) -> Option<Url> {
        Url::parse(&self.0.replace("{region}", region)).ok().filter(Url::has_host)
    }

    /// As it is, for what is no HTTP.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Address {
    type Error = BadAddress;

    fn try_from(text: String) -> Result<Self, BadAddress> {
        let address = Self(text);
        let good = address.at("region").is_some_and(|url| match url.scheme() {
            "http" | "https" => true,
            "tls" | "tcp" => url.port().is_some(),
            _ => false,
        });
        if good { Ok(address) } else { Err(BadAddress) }
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.0
    }
}

macro_rules! endpoints {
    ($($(#[$about:meta])* $name:ident = $address:literal,)*) => {
        /// Every address that is not a customer's own choice. What is not given is as the
        /// systems document it.
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Endpoints {
            $($(#[$about])* pub $name: Address,)*
        }

        impl Default for Endpoints {
            fn default() -> Self {
                Self { $($name: Address($address.to_owned()),)* }
            }
        }

        impl Endpoints {
            /// Those that are not as the systems document them, by their names.
            pub fn overrides(&self) -> BTreeMap<String, String> {
                let theirs = Self::default();
                let mut ours = BTreeMap::new();
                $(if self.$name != theirs.$name {
                    ours.insert(stringify!($name).to_owned(), self.$name.0.clone());
                })*
                ours
            }

            /// Of those; names and addresses that this release does not know are left out, so
            /// that an agent understands a control plane that is ahead of it.
            pub fn with_overrides(overrides: &BTreeMap<String, String>) -> Self {
                let mut endpoints = Self::default();
                $(let given = overrides.get(stringify!($name)).cloned();
                if let Some(address) = given.and_then(|it| Address::try_from(it).ok()) {
                    endpoints.$name = address;
                })*
                endpoints
            }
        }
    };
}

endpoints! {
    loggly = "https://logs-01.loggly.com",
    logentries = "tls://data.logentries.com:443",
    cloudwatchlog = "https://logs.{region}.amazonaws.com",
    cloudwatch = "https://monitoring.{region}.amazonaws.com",
    librato = "https://metrics-api.librato.com",
    /// The region is a site of theirs, such as `datadoghq.eu`.
    datadog_logs = "https://http-intake.logs.{region}",
    datadog_metrics = "https://api.{region}",
    newrelic = "https://metric-api.newrelic.com",
    newrelic_eu = "https://metric-api.eu.newrelic.com",
}

/// A path below an address. Segments are escaped, so a token stays one.
pub fn below(mut url: Url, segments: &[&str]) -> Url {
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_place_for_a_region() {
        let check = |address: &str, region: &str, expected: Option<&str>| {
            let address = Address::try_from(address.to_owned()).ok();
            let url = address.and_then(|address| address.at(region));
            assert_eq!(url.as_ref().map(Url::as_str), expected);
        };
        check("https://logs.{region}.x.test", "eu-1", Some("https://logs.eu-1.x.test/"));
        check("http://10.0.0.1:1/gate", "eu-1", Some("http://10.0.0.1:1/gate"));
        check("tcp://10.0.0.1:1", "", Some("tcp://10.0.0.1:1"));
        check("tls://data.test", "", None);
        check("ftp://data.test", "", None);
        check("data.test:1", "", None);
        check("https://{region}", "", None);
    }

    #[test]
    fn what_is_not_given_is_as_documented() {
        let given = serde_json::json!({ "newrelic": "http://gate.test/newrelic" });
        let endpoints: Endpoints = serde_json::from_value(given).unwrap();
        let expected = BTreeMap::from([("newrelic".into(), "http://gate.test/newrelic".into())]);
        assert_eq!(endpoints.overrides(), expected);
        assert_eq!(Endpoints::with_overrides(&expected), endpoints);
        let ahead = BTreeMap::from([("elsewhere".into(), "http://x".into())]);
        assert_eq!(Endpoints::with_overrides(&ahead), Endpoints::default());
        for bad in [serde_json::json!({ "x": "http://y" }), serde_json::json!({ "loggly": "y" })] {
            assert!(serde_json::from_value::<Endpoints>(bad.clone()).is_err(), "{bad}");
        }
        let all = serde_json::to_value(Endpoints::default()).unwrap();
        for (name, address) in all.as_object().unwrap() {
            let address = address.as_str().unwrap().to_owned();
            assert!(Address::try_from(address).is_ok(), "{name}");
        }
    }

    #[test]
    fn tokens_stay_below_their_endpoint() {
        let check = |address: &str, segments: &[&str], expected: &str| {
            assert_eq!(below(address.parse().unwrap(), segments).as_str(), expected);
        };
        check("https://a.test", &["bulk", "t"], "https://a.test/bulk/t");
        check("https://a.test/gate/", &["a/b?c"], "https://a.test/gate/a%2Fb%3Fc");
    }
}
