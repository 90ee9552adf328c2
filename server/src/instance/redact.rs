//! Taking secrets out of what leaves the house.
//!
//! Three nets, each for what slips through the others: texts that are known to
//! be secret, private keys in PEM form wherever they stand, and values whose
//! name says that they are secret.

use model::Secret;
use serde_json::Value;

const STARS: &str = "***";
const REMOVED: &str = "[private key removed]";
/// Parts of names whose values are nobody's business.
const NAMES: [&str; 9] = [
    "password",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api_key",
    "credential",
    "jaas",
    "keystore.key",
];
/// Shorter ones would be found in words that are no secret.
const SHORTEST: usize = 6;

pub struct Redactor {
    known: Vec<Secret>,
}

impl Redactor {
    pub fn new(known: Vec<Secret>) -> Self {
        Self { known: known.into_iter().filter(|s| s.expose().trim().len() >= SHORTEST).collect() }
    }

    /// A log, a file of settings, or any other text.
    pub fn text(&self, text: &str) -> String {
        let mut clean = without_private_keys(text);
        for secret in &self.known {
            clean = clean.replace(secret.expose().trim(), STARS);
        }
        let lines: Vec<String> = clean.lines().map(setting).collect();
        lines.join("\n") + "\n"
    }

    /// A document, its strings cleaned one by one so that it stays one.
    pub fn json(&self, document: &Value) -> Value {
        match document {
            Value::String(text) => Value::String(self.text(text).trim_end().to_owned()),
            Value::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            Value::Object(fields) => {
                let clean = |(name, value): (&String, &Value)| {
                    let value = match value {
                        Value::String(_) if is_secret(name) => STARS.into(),
                        other => self.json(other),
                    };
                    (name.clone(), value)
                };
                Value::Object(fields.iter().map(clean).collect())
            }
            plain => plain.clone(),
        }
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

/// `name=value` with the value starred, if the name says so.
fn setting(line: &str) -> String {
    let Some(at) = line.find('=') else { return line.to_owned() };
    let name = line[..at].trim();
    if name.is_empty() || name.contains(char::is_whitespace) || !is_secret(name) {
        return line.to_owned();
    }
    format!("{}={STARS}", &line[..at])
}

/// Also without the rest of one whose beginning or end was cut off.
fn without_private_keys(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(marker) = private_key_marker(rest) {
        if marker.begins {
            clean.push_str(&rest[..marker.from]);
        } else {
            // Its beginning was cut off: what stood before it is the key.
            clean.clear();
        }
        clean.push_str(REMOVED);
        rest = &rest[marker.to..];
        if marker.begins {
            let end = private_key_marker(rest).filter(|marker| !marker.begins);
            rest = end.map_or("", |end| &rest[end.to..]);
        }
    }
    clean + rest
}

struct Marker {
    from: usize,
    to: usize,
    begins: bool,
}

/// The next `-----BEGIN … PRIVATE KEY-----` or its end.
fn private_key_marker(text: &str) -> Option<Marker> {
    const KIND: &str = "PRIVATE KEY-----";
    let kind = text.find(KIND)?;
    let from = text[..kind].rfind("-----")?;
    let begins = text[from..kind].starts_with("-----BEGIN");
    Some(Marker { from, to: kind + KIND.len(), begins })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redactor() -> Redactor {
        Redactor::new(vec![Secret::new("hunter-two\n"), Secret::new("a"), Secret::new("")])
    }

    #[test]
    fn known_secrets_and_values_of_telling_names_are_starred() {
        let check = |text: &str, expected: &str| assert_eq!(redactor().text(text), expected);
        check("login with hunter-two failed", "login with *** failed\n");
        check("ssl.key.password = x\nnode.id=1", "ssl.key.password =***\nnode.id=1\n");
        check("\tsasl.jaas.config=a=b", "\tsasl.jaas.config=***\n");
        check("the password rule a=b is fine", "the password rule a=b is fine\n");
        check("ssl.keystore.key.location", "ssl.keystore.key.location\n");
    }

    #[test]
    fn private_keys_go_whole_or_cut() {
        let check = |text: &str, expected: &str| {
            assert_eq!(without_private_keys(text), expected, "{text}");
        };
        let key = "-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----";
        check(&format!("a\n{key}\nb"), "a\n[private key removed]\nb");
        check(&format!("{key}{key}"), "[private key removed][private key removed]");
        check(&key.replace('\n', "\\n"), "[private key removed]");
        check(&key.replace("PRIVATE", "EC PRIVATE"), "[private key removed]");
        check("a\n-----BEGIN PRIVATE KEY-----\nMIG", "a\n[private key removed]");
        check("MIG\n-----END PRIVATE KEY-----\nb", "[private key removed]\nb");
        let certificate = "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----";
        check(certificate, certificate);
    }

    #[test]
    fn a_document_stays_one() {
        let document = json!({
            "token": "t", "token_count": 3, "log": ["hunter-two"], "deep": {"Password": "p"},
        });
        let expected = json!({
            "token": "***", "token_count": 3, "log": ["***"], "deep": {"Password": "***"},
        });
        assert_eq!(redactor().json(&document), expected);
    }
}
