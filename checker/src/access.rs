//! A cluster and who we are there: said once, and understood by our own
//! connections, by librdkafka and by the Java client.

mod properties;
mod settings;

pub use properties::PropertiesError;
pub(crate) use settings::{java_settings, librdkafka_settings, write_properties};

use kafka::Endpoint;
use kafka::client::{Identity, Mechanism};
use model::Secret;
use serde_json::Value;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    pub brokers: Vec<Endpoint>,
    pub auth: Auth,
}

/// How one gets in. PEM, and never a path: what is checked at the start is
/// still so when a client reconnects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Auth {
    #[default]
    Plaintext,
    Tls {
        ca_pem: String,
        identity: Option<Identity>,
    },
    /// Without a CA the password's proof goes over an open connection.
    Scram {
        ca_pem: Option<String>,
        username: String,
        password: Secret,
        mechanism: Mechanism,
    },
}

impl Access {
    /// As the default user of an instance, whose record the Customer API answers with.
    pub fn of_instance(record: &Value) -> Result<Self, PropertiesError> {
        let text = |field| record[field].as_str().unwrap_or_default().to_owned();
        let auth = Auth::Scram {
            ca_pem: Some(text("ca")),
            username: text("username"),
            password: Secret::new(text("password")),
            mechanism: Mechanism::ScramSha512,
        };
        Ok(Self { brokers: Self::parse_brokers(&text("brokers"))?, auth })
    }

    pub fn bootstrap(&self) -> String {
        self.brokers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// `host:port,host:port`.
    pub fn parse_brokers(text: &str) -> Result<Vec<Endpoint>, PropertiesError> {
        let broker = |text: &str| {
            let (host, port) = text.trim().rsplit_once(':')?;
            let host = host.trim_start_matches('[').trim_end_matches(']');
            Some(Endpoint::new(host, port.parse().ok()?)).filter(|_| !host.is_empty())
        };
        text.split(',')
            .map(|part| broker(part).ok_or_else(|| PropertiesError::Broker(part.trim().into())))
            .collect()
    }
}
