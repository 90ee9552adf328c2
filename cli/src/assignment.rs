//! `name=value`, as settings are given.

use anyhow::{Context as _, bail};
use serde_json::{Map, Value};
use std::str::FromStr;

#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    name: String,
    value: Value,
}

impl FromStr for Assignment {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (name, value) = text.split_once('=').context("a setting is given as name=value")?;
        let name = name.trim();
        if name.is_empty() {
            bail!("a setting is given as name=value");
        }
        let value = value.trim();
        if value.is_empty() {
            // The API takes it for one that is not given, and nothing would be set.
            bail!("{name} has no value; give it one, or leave it out");
        }
        Ok(Self { name: name.into(), value: typed(value) })
    }
}

/// A number or a flag as such, if nothing of how it was written is lost.
fn typed(text: &str) -> Value {
    if let Ok(flag) = text.parse::<bool>() {
        return flag.into();
    }
    let number = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    number.map_or_else(|| text.into(), Value::from)
}

/// As the API takes them. Which of two is meant can't be known.
pub fn settings(given: &[Assignment]) -> anyhow::Result<Map<String, Value>> {
    let mut settings = Map::new();
    for Assignment { name, value } in given {
        if settings.insert(name.clone(), value.clone()).is_some() {
            bail!("{name} is given twice");
        }
    }
    Ok(settings)
}

/// As people write them.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Several in one cell of a table.
pub fn line(settings: &Map<String, Value>) -> String {
    let each: Vec<String> =
        settings.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
    each.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_of_the_kind_they_look_like() {
        for (given, expected) in [
            ("retention.ms=60000", json!({"retention.ms": 60000})),
            ("retention.ms=-1", json!({"retention.ms": -1})),
            ("preallocate=true", json!({"preallocate": true})),
            ("cleanup.policy=compact,delete", json!({"cleanup.policy": "compact,delete"})),
            ("a=007", json!({"a": "007"})),
            ("a=b=c", json!({"a": "b=c"})),
        ] {
            let assignment: Assignment = given.parse().unwrap();
            assert_eq!(Value::Object(settings(&[assignment]).unwrap()), expected, "{given}");
        }
        for given in ["retention.ms", "=1", " =1", "", "a=", "a= "] {
            assert!(given.parse::<Assignment>().is_err(), "{given}");
        }
    }

    #[test]
    fn a_setting_is_given_once() {
        let twice: Vec<Assignment> = ["a=1", "a=2"].map(|text| text.parse().unwrap()).into();
        assert_eq!(settings(&twice).unwrap_err().to_string(), "a is given twice");
    }
}
