//! One field's value in one type. Absent, `null` and `""` are "not given".

use super::fields::Given;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is wrong with a value, as a sentence about the field.
pub type Fault = &'static str;

const ONCE: Fault = "must be given once";
const ONE_VALUE: Fault = "must be a single value, not a list";
const STRING: Fault = "must be a string";
const INTEGER: Fault = "must be an integer";
const NUMBER: Fault = "must be a number";
const BOOLEAN: Fault = "must be true or false";
const LIST: Fault = "must be a list of strings";
const INTEGERS: Fault = "must be a list of integers";
const OBJECT: Fault = "must be an object";
const MAP: Fault = "must be an object of names and values";
const OBJECTS: Fault = "must be a list of objects";
const SCALAR: Fault = "must be a single value";
const NUL: Fault = "must not contain a NUL character";

enum One<'a> {
    Json(&'a Value),
    Text(&'a str),
}

/// The one value of a scalar field.
fn one(given: &Given) -> Result<Option<One<'_>>, Fault> {
    let one = match given {
        Given::Json(values) => match values.as_slice() {
            [value] => One::Json(value),
            _ => return Err(ONCE),
        },
        Given::Text { bracketed: true, .. } => return Err(ONE_VALUE),
        Given::Text { texts, .. } => match texts.as_slice() {
            [text] => One::Text(text),
            _ => return Err(ONCE),
        },
    };
    Ok(match one {
        One::Json(Value::Null) | One::Text("") => None,
        One::Json(Value::String(text)) if text.is_empty() => None,
        one => Some(one),
    })
}

pub fn text(given: &Given) -> Result<Option<String>, Fault> {
    match one(given)? {
        None => Ok(None),
        Some(One::Text(text)) => whole(text).map(Some),
        Some(One::Json(Value::String(text))) => whole(text).map(Some),
        Some(One::Json(_)) => Err(STRING),
    }
}

pub fn integer(given: &Given) -> Result<Option<i64>, Fault> {
    match one(given)? {
        None => Ok(None),
        Some(One::Text(text)) => text.trim().parse().map(Some).map_err(|_| INTEGER),
        Some(One::Json(value)) => value.as_i64().map(Some).ok_or(INTEGER),
    }
}

pub fn number(given: &Given) -> Result<Option<f64>, Fault> {
    let finite = |number: f64| if number.is_finite() { Ok(Some(number)) } else { Err(NUMBER) };
    match one(given)? {
        None => Ok(None),
        Some(One::Text(text)) => text.trim().parse().map_err(|_| NUMBER).and_then(finite),
        Some(One::Json(value)) => value.as_f64().ok_or(NUMBER).and_then(finite),
    }
}

pub fn flag(given: &Given) -> Result<Option<bool>, Fault> {
    match one(given)? {
        None => Ok(None),
        Some(One::Text(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Some(true)),
            "false" | "0" => Ok(Some(false)),
            _ => Err(BOOLEAN),
        },
        Some(One::Json(value)) => value.as_bool().map(Some).ok_or(BOOLEAN),
    }
}

/// In JSON an array of strings. In a form `a,b`, `[a,b]`, `["a","b"]`, the
/// field repeated, or `name[]` repeated. An empty list is given, not absent.
pub fn list(given: &Given) -> Result<Option<Vec<String>>, Fault> {
    match given {
        Given::Json(values) => match values.as_slice() {
            [Value::Null] => Ok(None),
            [Value::String(text)] if text.is_empty() => Ok(None),
            [Value::Array(items)] => items.iter().map(item).collect::<Result<_, _>>().map(Some),
            [_] => Err(LIST),
            _ => Err(ONCE),
        },
        Given::Text { texts, bracketed: true } => {
            let filled = texts.iter().filter(|text| !text.is_empty());
            filled.map(|text| whole(text)).collect::<Result<_, _>>().map(Some)
        }
        Given::Text { texts, .. } if texts.iter().all(String::is_empty) => Ok(None),
        Given::Text { texts, .. } => {
            let mut items = Vec::new();
            for text in texts {
                items.extend(split(text)?);
            }
            Ok(Some(items))
        }
    }
}

/// In JSON an array of integers; in a form as any list. A list of nothing is
/// given, also where it is written as an empty text in brackets.
pub fn integers(given: &Given) -> Result<Option<Vec<i64>>, Fault> {
    if let Given::Json(values) = given {
        return match values.as_slice() {
            [Value::Null] => Ok(None),
            [Value::String(text)] if text.is_empty() => Ok(None),
            [Value::Array(items)] => {
                let items: Option<Vec<i64>> = items.iter().map(Value::as_i64).collect();
                items.map(Some).ok_or(INTEGERS)
            }
            [_] => Err(INTEGERS),
            _ => Err(ONCE),
        };
    }
    let Some(items) = list(given)? else { return Ok(None) };
    let parsed: Result<Vec<i64>, _> = items.iter().map(|item| item.parse()).collect();
    parsed.map(Some).map_err(|_| INTEGERS)
}

/// As a list, but in JSON also one string `a,b`, and an empty text is an empty
/// list.
pub fn comma_list(given: &Given) -> Result<Option<Vec<String>>, Fault> {
    match given {
        Given::Json(values) => match values.as_slice() {
            [Value::String(text)] => pieces(text).map(Some),
            _ => list(given),
        },
        Given::Text { texts, .. } if texts.iter().all(String::is_empty) => Ok(Some(Vec::new())),
        Given::Text { .. } => list(given),
    }
}

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
    Ok(Some(map))
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

/// One value of any kind that is no list and no object, as text.
pub fn scalar(given: &Given) -> Result<Option<String>, Fault> {
    match one(given)? {
        None => Ok(None),
        Some(One::Text(text)) => whole(text).map(Some),
        Some(One::Json(value)) => plain(value, SCALAR),
    }
}

/// What JSON says; in a form, what the JSON that is written there says.
fn structure(given: &Given, fault: Fault) -> Result<Option<Value>, Fault> {
    match one(given)? {
        None => Ok(None),
        Some(One::Json(value)) => Ok(Some(value.clone())),
        Some(One::Text(text)) => serde_json::from_str(text).map(Some).map_err(|_| fault),
    }
}

fn plain(value: &Value, fault: Fault) -> Result<Option<String>, Fault> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => whole(text).map(Some),
        Value::Bool(flag) => Ok(Some(flag.to_string())),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::Array(_) | Value::Object(_) => Err(fault),
    }
}

fn item(value: &Value) -> Result<String, Fault> {
    whole(value.as_str().ok_or(LIST)?)
}

fn split(text: &str) -> Result<Vec<String>, Fault> {
    let trimmed = text.trim();
    let Some(inner) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return pieces(text);
    };
    match serde_json::from_str::<Vec<String>>(trimmed) {
        Ok(items) => items.iter().map(|item| whole(item)).collect(),
        Err(_) => pieces(inner),
    }
}

fn pieces(text: &str) -> Result<Vec<String>, Fault> {
    text.split(',').map(str::trim).filter(|piece| !piece.is_empty()).map(whole).collect()
}

/// No text of ours holds a NUL, and databases differ in what they make of it.
fn whole(text: &str) -> Result<String, Fault> {
    if text.contains('\0') { Err(NUL) } else { Ok(text.into()) }
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
        assert_eq!(map(&Given::Json(vec![json!({"a": ""})])), Ok(Some(BTreeMap::new())));
    }
}
