//! JSON bodies. A key that comes twice is kept twice, so that its field can be
//! refused instead of one of its values being picked.

use super::{Fields, unreadable};
use app::Error;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use std::fmt;

pub fn parse(bytes: &[u8]) -> Result<Fields, Error> {
    // Nesting deeper than 128 is refused by serde_json itself.
    let object: Object = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => unreadable("The body must be a JSON object"),
        _ => unreadable(&format!("The body is not valid JSON: {error}")),
    })?;
    let mut fields = Fields::default();
    for (name, value) in object.0 {
        fields.add_json(&name, value);
    }
    Ok(fields)
}

struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Object(pairs))
    }
}
