//! One field's value that has parts: an object, or a list of them. In a form it is
//! written as JSON, or as `name[part]`.

use super::fields::Given;
use super::values::{Fault, One, one, plain, whole};
use serde_json::Value;
use std::collections::BTreeMap;

const OBJECT: Fault = "must be an object";
const MAP: Fault = "must be an object of names and values";
const OBJECTS: Fault = "must be a list of objects";
const EACH_ONCE: Fault = "must have each name once";

/// An object of settings. As everywhere, `null` and `""` are "not given".
pub fn map(given: &Given) -> Result<Option<BTreeMap<String, String>>, Fault> {
    let Some(value) = structure(given, MAP)? else { return Ok(None) };
    let Value::Object(fields) = value else { return Err(MAP) };
    let mut map = BTreeMap::new();
    for (name, value) in &fields {
        if let Some(text) = plain(value, MAP)? {
            map.insert(whole(name)?, text);
        }
    }
    // One that names settings and gives none of them a value is no wish to have none.
    Ok((fields.is_empty() || !map.is_empty()).then_some(map))
}

pub fn objects(given: &Given) -> Result<Option<Vec<serde_json::Map<String, Value>>>, Fault> {
    let Some(value) = structure(given, OBJECTS)? else { return Ok(None) };
    let Value::Array(items) = value else { return Err(OBJECTS) };
    let object = |item| if let Value::Object(fields) = item { Ok(fields) } else { Err(OBJECTS) };
    items.into_iter().map(object).collect::<Result<_, _>>().map(Some)
}

pub fn object(given: &Given) -> Result<Option<serde_json::Map<String, Value>>, Fault> {
    match structure(given, OBJECT)? {
        None => Ok(None),
        Some(Value::Object(fields)) => Ok(Some(fields)),
        Some(_) => Err(OBJECT),
    }
}

/// What JSON says; in a form, what the JSON that is written there says, or the parts.
fn structure(given: &Given, fault: Fault) -> Result<Option<Value>, Fault> {
    if let Given::Parts(parts) = given {
        return object_of(parts).map(Some);
    }
    match one(given)? {
        None => Ok(None),
        Some(One::Json(value)) => Ok(Some(value.clone())),
        Some(One::Text(text)) => serde_json::from_str(text).map(Some).map_err(|_| fault),
    }
}

fn object_of(parts: &[(String, String)]) -> Result<Value, Fault> {
    let mut object = serde_json::Map::new();
    for (name, text) in parts {
        if object.insert(name.clone(), text.as_str().into()).is_some() {
            return Err(EACH_ONCE);
        }
    }
    Ok(object.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_setting_that_says_nothing_is_not_given() {
        let settings = json!({"a": "", "b": null, "c": 0, "d": false, "e": " "});
        let expected = [("c", "0"), ("d", "false"), ("e", " ")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let expected = Ok(Some(BTreeMap::from(expected)));
        let written = Given::Text { texts: vec![settings.to_string()], bracketed: false };
        assert_eq!(map(&written), expected);
        assert_eq!(map(&Given::Json(vec![settings])), expected);
        assert_eq!(map(&Given::Json(vec![json!({"a": ""})])), Ok(None), "no wish to have none");
        assert_eq!(map(&Given::Json(vec![json!({})])), Ok(Some(BTreeMap::new())));
    }
}
