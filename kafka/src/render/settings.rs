//! Settings of a properties file and how they are written.

use std::fmt::Write as _;

/// Settings in the order they were made, the last of a name winning.
#[derive(Default)]
pub struct Settings(Vec<(String, String)>);

impl Settings {
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        let Value(value) = value.into();
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some(known) => known.1 = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// One line a setting, after the header.
    pub fn text(&self, header: &str) -> String {
        let mut text = header.to_owned();
        for (name, value) in &self.0 {
            writeln!(text, "{name}={}", escape(value)).expect("writing to a string can't fail");
        }
        text
    }

    pub fn all<const N: usize>(&mut self, values: [(&str, &str); N]) {
        for (name, value) in values {
            self.set(name, value);
        }
    }
}

/// A setting's value as text.
pub struct Value(String);

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self(number.to_string())
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self(truth.to_string())
    }
}

/// Kafka reads the file as Latin-1 with Java's escapes.
fn escape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for unit in value.encode_utf16() {
        match u8::try_from(unit).map(char::from) {
            Ok('\\') => text.push_str("\\\\"),
            Ok(plain @ ' '..='~') => text.push(plain),
            _ => write!(text, "\\u{unit:04x}").expect("writing to a string can't fail"),
        }
    }
    text
}
