//! Reads a `client.properties`, as Kafka's own tools take it; names that
//! librdkafka has for the same things are understood too.

use super::{Access, Auth};
use kafka::client::{Identity, Mechanism};
use model::Secret;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum PropertiesError {
    #[error("{} can't be read", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{0} is not a broker: write host:port, and a comma between two")]
    Broker(String),
    #[error("no broker is named: give --brokers, or bootstrap.servers in the file")]
    NoBrokers,
    #[error("security.protocol={0} is not known; use PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL")]
    Protocol(String),
    #[error("sasl.mechanism={0} is not supported; use SCRAM-SHA-256 or SCRAM-SHA-512")]
    Mechanism(String),
    #[error("{0}={1} is not supported: only PEM is")]
    NotPem(&'static str, String),
    #[error("{0} is missing")]
    Missing(&'static str),
}

impl Access {
    /// From a file's text. Other settings of a client are left alone.
    pub fn from_properties(text: &str) -> Result<Self, PropertiesError> {
        let properties = Properties(parse(text));
        let brokers = properties.first(&["bootstrap.servers", "metadata.broker.list"]);
        let brokers = brokers.map(Self::parse_brokers).transpose()?.unwrap_or_default();
        Ok(Self { brokers, auth: properties.auth()? })
    }
}

struct Properties(BTreeMap<String, String>);

impl Properties {
    fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)).map(String::as_str)
    }

    fn auth(&self) -> Result<Auth, PropertiesError> {
        let protocol = self.first(&["security.protocol"]).unwrap_or("PLAINTEXT");
        match protocol.to_ascii_uppercase().as_str() {
            "PLAINTEXT" => Ok(Auth::Plaintext),
            "SSL" => Ok(Auth::Tls { ca_pem: self.ca()?, identity: self.identity()? }),
            "SASL_PLAINTEXT" => self.scram(None),
            "SASL_SSL" => self.scram(Some(self.ca()?)),
            _ => Err(PropertiesError::Protocol(protocol.into())),
        }
    }

    fn scram(&self, ca_pem: Option<String>) -> Result<Auth, PropertiesError> {
        let mechanism = self.first(&["sasl.mechanism", "sasl.mechanisms"]).unwrap_or("GSSAPI");
        let mechanism = Mechanism::ALL
            .into_iter()
            .find(|known| known.as_str() == mechanism)
            .ok_or_else(|| PropertiesError::Mechanism(mechanism.into()))?;
        let jaas = self.first(&["sasl.jaas.config"]).unwrap_or_default();
        let login = |name: &'static str, inside: &str| {
            let own = self.first(&[name]).map(String::from);
            own.or_else(|| jaas_value(jaas, inside)).ok_or(PropertiesError::Missing(name))
        };
        Ok(Auth::Scram {
            ca_pem,
            username: login("sasl.username", "username")?,
            password: Secret::new(login("sasl.password", "password")?),
            mechanism,
        })
    }

    fn ca(&self) -> Result<String, PropertiesError> {
        self.only_pem("ssl.truststore.type")?;
        let inline = ["ssl.truststore.certificates", "ssl.ca.pem"];
        self.pem(&inline, &["ssl.truststore.location", "ssl.ca.location"])?
            .ok_or(PropertiesError::Missing("ssl.truststore.certificates"))
    }

    fn identity(&self) -> Result<Option<Identity>, PropertiesError> {
        self.only_pem("ssl.keystore.type")?;
        let store = ["ssl.keystore.location"];
        let chain = ["ssl.keystore.certificate.chain", "ssl.certificate.pem"];
        let chain = self.pem(&chain, &["ssl.certificate.location", store[0]])?;
        let key = ["ssl.keystore.key", "ssl.key.pem"];
        let key = self.pem(&key, &["ssl.key.location", store[0]])?;
        match (chain, key) {
            (None, None) => Ok(None),
            (Some(certificate_chain_pem), Some(key)) => {
                Ok(Some(Identity { certificate_chain_pem, key_pem: Secret::new(key) }))
            }
            (None, Some(_)) => Err(PropertiesError::Missing("ssl.keystore.certificate.chain")),
            (Some(_), None) => Err(PropertiesError::Missing("ssl.keystore.key")),
        }
    }

    fn only_pem(&self, name: &'static str) -> Result<(), PropertiesError> {
        match self.first(&[name]) {
            Some(kind) if !kind.eq_ignore_ascii_case("PEM") => {
                Err(PropertiesError::NotPem(name, kind.into()))
            }
            _ => Ok(()),
        }
    }

    fn pem(&self, inline: &[&str], files: &[&str]) -> Result<Option<String>, PropertiesError> {
        if let Some(text) = self.first(inline) {
            return Ok(Some(text.to_owned()));
        }
        let read = |path: &str| {
            let path = Path::new(path);
            let io = |source| PropertiesError::Io { path: path.into(), source };
            std::fs::read_to_string(path).map_err(io)
        };
        self.first(files).map(read).transpose()
    }
}

/// `name="value"` in a JAAS line.
fn jaas_value(jaas: &str, name: &str) -> Option<String> {
    let after = jaas.split_once(&format!(" {name}="))?.1.strip_prefix('"')?;
    let mut value = String::new();
    let mut characters = after.chars();
    loop {
        match characters.next()? {
            '"' => return Some(value),
            '\\' => value.push(characters.next()?),
            character => value.push(character),
        }
    }
}

/// Java's format: comments, lines that go on after a backslash, escapes.
fn parse(text: &str) -> BTreeMap<String, String> {
    let mut properties = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut whole = line.trim_start().to_owned();
        if whole.is_empty() || whole.starts_with(['#', '!']) {
            continue;
        }
        while goes_on(&whole) {
            whole.pop();
            whole.push_str(lines.next().unwrap_or_default().trim_start());
        }
        let (name, value) = whole.split_once(['=', ':']).unwrap_or((&whole, ""));
        properties.insert(name.trim().to_owned(), unescape(value.trim_start()));
    }
    properties
}

/// An odd number of backslashes at the end.
fn goes_on(line: &str) -> bool {
    (line.len() - line.trim_end_matches('\\').len()) % 2 == 1
}

fn unescape(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => break,
            },
            character => character,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::Endpoint;

    fn refused(text: &str) -> String {
        Access::from_properties(text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_for_kafka_s_own_tools_is_understood() {
        let text = "# mine\nbootstrap.servers=a:9094, b:9094\nsecurity.protocol=SASL_SSL\n\
            sasl.mechanism=SCRAM-SHA-512\nssl.truststore.type=PEM\n\
            ssl.truststore.certificates=-----BEGIN-----\\nAA==\\n-----END-----\n\
            sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n  \
            username=\"ada\" password=\"a\\\\\"b\";\n";
        let access = Access::from_properties(text).unwrap();
        assert_eq!(access.brokers, [Endpoint::new("a", 9094), Endpoint::new("b", 9094)]);
        let expected = Auth::Scram {
            ca_pem: Some("-----BEGIN-----\nAA==\n-----END-----".into()),
            username: "ada".into(),
            password: Secret::new("a\"b"),
            mechanism: Mechanism::ScramSha512,
        };
        assert_eq!(access.auth, expected);
    }

    #[test]
    fn what_the_files_of_our_operators_hold_is_understood() {
        let text = "bootstrap.servers=127.64.0.1:9091\nsecurity.protocol=SSL\n\
            ssl.keystore.type=PEM\nssl.keystore.certificate.chain=C\\n\nssl.keystore.key=K\n\
            ssl.truststore.type=PEM\nssl.truststore.certificates=T\n";
        let Auth::Tls { ca_pem, identity } = Access::from_properties(text).unwrap().auth else {
            panic!("it is TLS")
        };
        let identity = identity.unwrap();
        assert_eq!((ca_pem.as_str(), identity.certificate_chain_pem.as_str()), ("T", "C\n"));
        assert_eq!(identity.key_pem.expose(), "K");
    }

    #[test]
    fn what_can_t_be_used_is_named() {
        let check = |text: &str, expected: &str| {
            let refused = refused(text);
            assert!(refused.contains(expected), "{refused}");
        };
        check("bootstrap.servers=a", "a is not a broker");
        check("security.protocol=TLS", "security.protocol=TLS");
        check("security.protocol=SSL", "ssl.truststore.certificates is missing");
        check("security.protocol=SSL\nssl.truststore.type=JKS", "ssl.truststore.type=JKS");
        check("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN", "sasl.mechanism=PLAIN");
        check(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nsasl.username=a",
            "sasl.password is missing",
        );
    }
}
