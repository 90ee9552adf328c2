//! The same access in each client's own words.

use super::{Access, Auth};
use std::fmt::Write as _;

type Settings = Vec<(&'static str, String)>;

pub(crate) fn librdkafka_settings(access: &Access) -> Settings {
    let mut settings = vec![("bootstrap.servers", access.bootstrap())];
    settings.push(("security.protocol", protocol(&access.auth).to_owned()));
    match &access.auth {
        Auth::Plaintext => {}
        Auth::Tls { ca_pem, identity } => {
            settings.push(("ssl.ca.pem", ca_pem.clone()));
            if let Some(identity) = identity {
                settings.push(("ssl.certificate.pem", identity.certificate_chain_pem.clone()));
                settings.push(("ssl.key.pem", identity.key_pem.expose().to_owned()));
            }
        }
        Auth::Scram { ca_pem, username, password, mechanism } => {
            settings.extend(ca_pem.iter().map(|ca| ("ssl.ca.pem", ca.clone())));
            settings.push(("sasl.mechanisms", mechanism.as_str().to_owned()));
            settings.push(("sasl.username", username.clone()));
            settings.push(("sasl.password", password.expose().to_owned()));
        }
    }
    settings
}

pub(crate) fn java_settings(access: &Access) -> Settings {
    let mut settings = vec![("bootstrap.servers", access.bootstrap())];
    settings.push(("security.protocol", protocol(&access.auth).to_owned()));
    let trust = |ca_pem: &String| {
        let pem = "PEM".to_owned();
        [("ssl.truststore.type", pem), ("ssl.truststore.certificates", ca_pem.clone())]
    };
    match &access.auth {
        Auth::Plaintext => {}
        Auth::Tls { ca_pem, identity } => {
            settings.extend(trust(ca_pem));
            if let Some(identity) = identity {
                let chain = identity.certificate_chain_pem.clone();
                settings.push(("ssl.keystore.type", "PEM".to_owned()));
                settings.push(("ssl.keystore.certificate.chain", chain));
                settings.push(("ssl.keystore.key", identity.key_pem.expose().to_owned()));
            }
        }
        Auth::Scram { ca_pem, username, password, mechanism } => {
            settings.extend(ca_pem.iter().flat_map(trust));
            settings.push(("sasl.mechanism", mechanism.as_str().to_owned()));
            settings.push(("sasl.jaas.config", jaas(username, password.expose())));
        }
    }
    settings
}

fn protocol(auth: &Auth) -> &'static str {
    match auth {
        Auth::Plaintext => "PLAINTEXT",
        Auth::Tls { .. } => "SSL",
        Auth::Scram { ca_pem: None, .. } => "SASL_PLAINTEXT",
        Auth::Scram { ca_pem: Some(_), .. } => "SASL_SSL",
    }
}

fn jaas(username: &str, password: &str) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"{}\" \
         password=\"{}\";",
        quoted(username),
        quoted(password)
    )
}

/// As Java reads a properties file.
pub(crate) fn write_properties(settings: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (name, value) in settings {
        let value = value.replace('\\', "\\\\").replace('\r', "\\r").replace('\n', "\\n");
        let blank = if value.starts_with(' ') { "\\" } else { "" };
        writeln!(text, "{name}={blank}{value}").expect("writing to a string can't fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::Endpoint;
    use kafka::client::Mechanism;
    use model::Secret;

    /// What we write for Java is what we read, whatever is in a password.
    #[test]
    fn java_s_file_reads_back_the_same() {
        let auth = |password: &str| Auth::Scram {
            ca_pem: Some("-----BEGIN-----\nAA==\n".into()),
            username: "ada".into(),
            password: Secret::new(password),
            mechanism: Mechanism::ScramSha256,
        };
        for password in ["plain", "with \"quotes\"", "back\\slash", " space", "a=b:c#d"] {
            let brokers = vec![Endpoint::new("a", 1), Endpoint::new("::1", 2)];
            let access = Access { brokers, auth: auth(password) };
            let text = write_properties(&java_settings(&access));
            assert_eq!(Access::from_properties(&text).unwrap(), access, "{text}");
            let text = write_properties(&librdkafka_settings(&access));
            assert_eq!(Access::from_properties(&text).unwrap(), access, "{text}");
        }
    }
}
