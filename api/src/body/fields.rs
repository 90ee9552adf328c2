//! The fields of a request, whatever it was sent as. A getter gives the value
//! in its type or notes why it can't; endpoints name each field once, there.

use super::structures;
use super::values::{self, Fault};
use app::Problems;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// A field as sent. Every value it was sent with is kept.
#[derive(Clone, Debug)]
pub enum Given {
    /// Strict: a number is no string.
    Json(Vec<Value>),
    /// Coerced: strings become numbers, booleans and lists.
    Text {
        texts: Vec<String>,
        /// Sent as `name[]`, so it is a list whatever the count.
        bracketed: bool,
    },
    /// Sent as `name[part]`: the parts of an object, coerced.
    Parts(Vec<(String, String)>),
    /// Sent in a way that says nothing, such as `name[part][part]`, or in several.
    Garbled,
}

impl Given {
    /// Text under a name, of which this is what stands behind the field's own.
    fn from_text(rest: Option<&str>, text: String) -> Self {
        let Some(rest) = rest else { return Given::Text { texts: vec![text], bracketed: false } };
        match rest.strip_suffix(']') {
            Some("") => Given::Text { texts: vec![text], bracketed: true },
            Some(part) if !part.contains(['[', ']']) => Given::Parts(vec![(part.into(), text)]),
            _ => Given::Garbled,
        }
    }

    /// Both of them, sent one after the other.
    fn and(self, more: Given) -> Self {
        use Given::{Garbled, Parts, Text};
        match (self, more) {
            (Text { mut texts, bracketed }, Text { texts: more, bracketed: listed }) => {
                texts.extend(more);
                Text { texts, bracketed: bracketed || listed }
            }
            (Parts(mut parts), Parts(more)) => {
                parts.extend(more);
                Parts(parts)
            }
            _ => Garbled,
        }
    }
}

#[derive(Debug, Default)]
pub struct Fields {
    given: HashMap<String, Given>,
    problems: Problems,
}

impl Fields {
    pub(super) fn add_json(&mut self, name: &str, value: Value) {
        match self.given.get_mut(name) {
            Some(Given::Json(values)) => values.push(value),
            _ => drop(self.given.insert(name.into(), Given::Json(vec![value]))),
        }
    }

    pub(super) fn add_text(&mut self, name: &str, text: String) {
        let (name, rest) = match name.split_once('[') {
            Some((name, rest)) => (name, Some(rest)),
            None => (name, None),
        };
        let given = Given::from_text(rest, text);
        let given = match self.given.remove(name) {
            Some(before) => before.and(given),
            None => given,
        };
        self.given.insert(name.into(), given);
    }

    pub(super) fn into_problems(self) -> Problems {
        self.problems
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, values::text)
    }

    /// Text that goes on as it is: an empty one says something.
    pub fn contents(&mut self, name: &str) -> Option<String> {
        self.read(name, values::contents)
    }

    pub fn integer(&mut self, name: &str) -> Option<i64> {
        self.read(name, values::integer)
    }

    /// Any number, whole or not.
    pub fn number(&mut self, name: &str) -> Option<f64> {
        self.read(name, values::number)
    }

    /// Whether it was sent, as opposed to saying something: null is sent.
    pub fn is_sent(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// An integer whose 0 means "not given".
    pub fn size(&mut self, name: &str) -> Option<i64> {
        self.integer(name).filter(|size| *size != 0)
    }

    pub fn flag(&mut self, name: &str) -> Option<bool> {
        self.read(name, values::flag)
    }

    /// A list of strings; an empty one is no different from none.
    pub fn list(&mut self, name: &str) -> Option<Vec<String>> {
        self.read(name, values::list).filter(|list| !list.is_empty())
    }

    /// A list of strings where `[]` says something, as opposed to not given.
    pub fn list_even_empty(&mut self, name: &str) -> Option<Vec<String>> {
        self.read(name, values::list)
    }

    /// A list of strings where `null` and `[]` mean "none of them", as opposed
    /// to not given.
    pub fn list_or_none(&mut self, name: &str) -> Option<Vec<String>> {
        if let Some(Given::Json(values)) = self.given.get(name)
            && matches!(values.as_slice(), [Value::Null])
        {
            return Some(Vec::new());
        }
        self.read(name, values::list)
    }

    /// A list of integers where `[]` says something, as opposed to not given.
    pub fn integers(&mut self, name: &str) -> Option<Vec<i64>> {
        self.read(name, values::integers)
    }

    /// An object, read as the whole is. In a form it is written as JSON, or as
    /// `name[part]`.
    pub fn object<T>(&mut self, name: &str, read: fn(&mut Fields) -> T) -> Option<T> {
        let mut fields = Fields::default();
        if let Some(Given::Parts(parts)) = self.given.get(name) {
            for (part, text) in parts {
                fields.add_text(part, text.clone());
            }
        } else {
            for (name, value) in self.read(name, structures::object)? {
                fields.add_json(&name, value);
            }
        }
        let found = read(&mut fields);
        self.problems.extend(fields.problems);
        Some(found)
    }

    /// A list that is written as `a,b`, in JSON too; an empty text is a list of
    /// nothing, as opposed to not given.
    pub fn comma_list(&mut self, name: &str) -> Option<Vec<String>> {
        self.read(name, values::comma_list)
    }

    /// Names and values, whatever kind each value is; null or nothing is not given.
    /// In a form it is written as JSON, or as `name[part]`.
    pub fn map(&mut self, name: &str) -> Option<BTreeMap<String, String>> {
        self.read(name, structures::map)
    }

    /// A list of objects, each read as the whole is. In a form it is written as
    /// JSON.
    pub fn objects<T>(&mut self, name: &str, read: fn(&mut Fields) -> T) -> Option<Vec<T>> {
        let objects = self.read(name, structures::objects)?;
        let mut list = Vec::with_capacity(objects.len());
        for (number, object) in objects.into_iter().enumerate() {
            let mut fields = Fields::default();
            for (name, value) in object {
                fields.add_json(&name, value);
            }
            list.push(read(&mut fields));
            self.problems.within(name, number, |problems| problems.extend(fields.problems));
        }
        Some(list)
    }

    /// Everything that was sent, whatever kind each value is; none of a name that was
    /// sent without one.
    pub fn everything(&mut self) -> BTreeMap<String, Option<String>> {
        let sent: BTreeMap<&String, &Given> = self.given.iter().collect();
        let mut all = BTreeMap::new();
        for (name, given) in sent {
            if let Some(value) = self.problems.take(name, values::scalar(given)) {
                all.insert(name.clone(), value);
            }
        }
        all
    }

    /// Whether JSON has a text here, which is nothing else there.
    pub fn is_json_text(&self, name: &str) -> bool {
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        matches!(self.given.get(name), Some(Given::Json(values)) if values.iter().any(is_text))
    }

    /// Notes what is wrong with a field that could be read.
    pub fn refuse(&mut self, name: &str, what: &str) {
        self.problems.add(name, what);
    }

    /// Whether anything was sent under this name that says something.
    pub fn has_content(&self, name: &str) -> bool {
        match self.given.get(name) {
            None => false,
            Some(Given::Text { texts, .. }) => texts.iter().any(|text| !text.is_empty()),
            Some(Given::Parts(parts)) => parts.iter().any(|(_, text)| !text.is_empty()),
            Some(Given::Garbled) => true,
            Some(Given::Json(values)) => values.iter().any(|value| match value {
                Value::Null | Value::Bool(false) => false,
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => !items.is_empty(),
                Value::Object(fields) => !fields.is_empty(),
                _ => true,
            }),
        }
    }

    fn read<T>(&mut self, name: &str, read: fn(&Given) -> Result<Option<T>, Fault>) -> Option<T> {
        let read = read(self.given.get(name)?);
        self.problems.take(name, read).flatten()
    }
}
