//! Settings of every system that logs and metrics are sent to, with keys that are found again
//! wherever they come out.

use model::{IntegrationKind, IntegrationSystem};
use serde_json::{Map, Value};

/// Part of every key.
pub const KEY: &str = "key-that-leaked";

/// An integration to be made.
pub struct Filled {
    pub kind: IntegrationKind,
    pub system: IntegrationSystem,
    pub settings: Map<String, Value>,
    /// The names of those settings that are keys.
    pub keys: Vec<&'static str>,
}

/// Every system with every setting, for each kind that it takes.
pub fn all() -> Vec<Filled> {
    let kinds = IntegrationKind::ALL.into_iter();
    let each = kinds.flat_map(|kind| IntegrationSystem::ALL.map(|system| (kind, system)));
    let takes = each.filter(|(kind, system)| system.takes(*kind));
    takes.map(|(kind, system)| filled(kind, system)).collect()
}

fn filled(kind: IntegrationKind, system: IntegrationSystem) -> Filled {
    let (mut settings, mut keys) = (Map::new(), Vec::new());
    for field in system.fields() {
        // Not by what the system says of them: all that is not in this list is a key.
        let value = match field.name {
            "url" => "logs.example.com:514".to_owned(),
            "host_port" => "splunk.example.com:8088".to_owned(),
            "sourcetype" => "kafka".to_owned(),
            "email" => "ada@example.com".to_owned(),
            "endpoint" => "https://otlp.example.com:4318".to_owned(),
            "region" if system == IntegrationSystem::Datadog => "eu".to_owned(),
            "region" => "eu-west-1".to_owned(),
            name => {
                keys.push(name);
                let name_of_header = if name == "headers" { "api-key=" } else { "" };
                format!("{name_of_header}{KEY}-{system}-{kind}-{name}")
            }
        };
        settings.insert(field.name.to_owned(), value.into());
    }
    Filled { kind, system, settings, keys }
}
