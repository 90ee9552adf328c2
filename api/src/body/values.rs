//! One field's value in one type. Absent, `null` and `""` are "not given".

use super::fields::Given;
use serde_json::Value;

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
const SCALAR: Fault = "must be a single value";
const NUL: Fault = "must not contain a NUL character";
const GARBLED: Fault = "can't be read as it was sent; in a form write a list as name[]=value, an object as name[part]=value, and what goes deeper as JSON";

pub(super) enum One<'a> {
    Json(&'a Value),
    Text(&'a str),
}

/// The one value of a scalar field.
pub(super) fn one(given: &Given) -> Result<Option<One<'_>>, Fault> {
    Ok(match single(given)? {
        One::Json(Value::Null) | One::Text("") => None,
        One::Json(Value::String(text)) if text.is_empty() => None,
        one => Some(one),
    })
}

/// The one value, though it may say nothing.
fn single(given: &Given) -> Result<One<'_>, Fault> {
    Ok(match given {
        Given::Json(values) => match values.as_slice() {
            [value] => One::Json(value),
            _ => return Err(ONCE),
        },
        Given::Text { bracketed: true, .. } => return Err(ONE_VALUE),
        Given::Text { texts, .. } => match texts.as_slice() {
            [text] => One::Text(text),
            _ => return Err(ONCE),
        },
        Given::Parts(_) => return Err(SCALAR),
        Given::Garbled => return Err(GARBLED),
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

/// Text of which none is null, and an empty one is not.
pub fn contents(given: &Given) -> Result<Option<String>, Fault> {
    match single(given)? {
        One::Json(Value::Null) => Ok(None),
        One::Text(text) => whole(text).map(Some),
        One::Json(Value::String(text)) => whole(text).map(Some),
        One::Json(_) => Err(STRING),
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
        Given::Parts(_) => Err(LIST),
        Given::Garbled => Err(GARBLED),
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
    if matches!(given, Given::Parts(_)) {
        return Err(INTEGERS);
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
        Given::Text { .. } | Given::Parts(_) | Given::Garbled => list(given),
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

pub(super) fn plain(value: &Value, fault: Fault) -> Result<Option<String>, Fault> {
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
pub(super) fn whole(text: &str) -> Result<String, Fault> {
    if text.contains('\0') { Err(NUL) } else { Ok(text.into()) }
}
