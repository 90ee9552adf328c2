//! Schemas of inputs, by what they are said to be.

use crate::about::{Case, Counts, Input, Kind, Sent, Words};
use serde_json::{Map, Value, json};

/// Booleans in a form or a query; any case is understood.
const FLAGS: [&str; 5] = ["true", "false", "1", "0", ""];

/// How a body is written. Forms are coerced, so there a list may be one text,
/// and what a text may hold is looked at only after it was taken apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Json,
    Text,
}

/// The value of one input.
pub fn input(input: &Input, form: Form) -> Value {
    let schema = match input.kind {
        Kind::Text => text(input, form),
        Kind::Integer => number("integer", input, form),
        Kind::Number => number("number", input, form),
        Kind::Flag if form == Form::Text => json!({"enum": FLAGS}),
        Kind::Flag => json!({"type": scalar("boolean", input, form)}),
        Kind::List => {
            let item = match form {
                Form::Json => with_lengths(json!({"type": "string"}), input),
                Form::Text => json!({"type": "string"}),
            };
            list(input, form, &item)
        }
        Kind::Integers => list(input, form, &json!({"type": "integer"})),
        Kind::CommaList => {
            let kinds: &[&str] = match form {
                Form::Json => &["string", "array", "null"],
                Form::Text => &["string", "array"],
            };
            json!({"type": kinds, "items": {"type": "string"}})
        }
        Kind::Map | Kind::Object(_) | Kind::Objects(_) if form == Form::Text => {
            return json!({"type": "string", "description": format!("{}; as JSON", input.what)});
        }
        Kind::Map => {
            // Values that a text can be made of.
            let value = json!({"type": ["string", "number", "boolean", "null"]});
            json!({"type": or_null("object", input), "additionalProperties": value})
        }
        Kind::Object(fields) => {
            let mut schema = object(fields, Form::Json);
            schema["type"] = or_null("object", input);
            schema
        }
        Kind::Objects(fields) => {
            let mut schema = list(input, form, &object(fields, Form::Json));
            let least = input.least_items.or_else(|| input.required.then_some(1));
            schema["minItems"] = json!(least);
            schema
        }
    };
    let mut schema = without_nulls(schema);
    schema["description"] = input.what.into();
    schema
}

/// The types of a scalar. A text says that something is not given by being empty, JSON also by
/// null.
fn scalar(kind: &str, input: &Input, form: Form) -> Value {
    match form {
        Form::Json => or_null(kind, input),
        Form::Text if input.required || kind == "string" => kind.into(),
        Form::Text => json!([kind, "string"]),
    }
}

fn or_null(kind: &str, input: &Input) -> Value {
    if input.required { kind.into() } else { json!([kind, "null"]) }
}

fn number(kind: &str, input: &Input, form: Form) -> Value {
    let or_empty = form == Form::Text && !input.required;
    json!({
        "type": scalar(kind, input, form),
        "format": (kind == "integer").then_some("int64"),
        "pattern": or_empty.then_some("^$"),
        "multipleOf": input.step,
        "minimum": input.least,
        "exclusiveMinimum": input.above,
        "maximum": input.most,
    })
}

fn list(input: &Input, form: Form, item: &Value) -> Value {
    let kinds = match form {
        Form::Json => or_null("array", input),
        Form::Text => json!(["array", "string"]),
    };
    let (least, most) = (input.least_items, input.most_items);
    json!({"type": kinds, "items": item, "minItems": least, "maxItems": most})
}

fn with_lengths(mut schema: Value, input: &Input) -> Value {
    schema["minLength"] = json!(input.least);
    schema["maxLength"] = json!(input.most);
    schema["pattern"] = json!(input.pattern);
    without_nulls(schema)
}

/// With the words that it may be. One that is not required may also say nothing.
fn text(input: &Input, form: Form) -> Value {
    let mut schema = with_lengths(json!({"type": scalar("string", input, form)}), input);
    schema["examples"] = json!(input.example.map(|example| [example]));
    schema["format"] = json!(input.is_email.then_some("email"));
    match input.words {
        None => {}
        Some(Words::Exactly(words)) => {
            let mut all: Vec<Value> = words().into_iter().map(Value::from).collect();
            if !input.required {
                all.push("".into());
                all.extend((form == Form::Json).then_some(Value::Null));
            }
            schema["enum"] = all.into();
        }
        Some(Words::AnyCase(words)) => {
            let each: Vec<String> = words().into_iter().map(any_case).collect();
            let or_none = if input.required { "" } else { "?" };
            schema["pattern"] = format!("^({}){or_none}$", each.join("|")).into();
        }
    }
    schema
}

/// Such as `[Rr][Ee][Aa][Dd]`.
fn any_case(word: &str) -> String {
    let either =
        |letter: char| format!("[{}{}]", letter.to_ascii_uppercase(), letter.to_ascii_lowercase());
    word.chars().map(either).collect()
}

/// A body: its fields, and what they must be together.
pub fn body(sent: &Sent, form: Form) -> Value {
    if sent.is_list && form == Form::Json {
        return list_alone(&sent.fields[0]);
    }
    let groups = sent.groups.iter().map(|group| {
        let each = group.iter().filter_map(|(name, counts)| {
            let field = sent.fields.iter().find(|field| field.name == *name)?;
            Some(json!({"required": [name], "properties": {*name: counted(field, *counts, form)}}))
        });
        json!({"anyOf": each.collect::<Vec<_>>()})
    });
    let together: Vec<Value> =
        groups.chain(sent.cases.iter().map(|case| case_schema(case, form))).collect();
    let mut schema = object(&sent.fields, form);
    if !together.is_empty() {
        schema["allOf"] = together.into();
    }
    schema
}

/// A list that is the whole body, and so always given.
fn list_alone(list: &Input) -> Value {
    let mut schema = input(list, Form::Json);
    schema["type"] = "array".into();
    schema
}

/// What a field must be to count as given. In a form nothing is null, and an empty text is no
/// list.
fn counted(field: &Input, counts: Counts, form: Form) -> Value {
    let is_list = matches!(field.kind, Kind::List | Kind::Objects(_));
    match (counts, form) {
        (Counts::EvenNull, Form::Json) => json!({}),
        (Counts::EvenEmpty | Counts::EvenNull, Form::Text) if !is_list => json!({}),
        (Counts::EvenEmpty, Form::Json) => json!({"type": ["string", "array"]}),
        (Counts::Given, Form::Json) => {
            json!({"type": ["string", "array"], "minLength": 1, "minItems": 1})
        }
        (_, Form::Text) => json!({"minLength": 1, "minItems": 1}),
    }
}

fn case_schema(case: &Case, form: Form) -> Value {
    let Case { field, words, then } = case;
    let is_so = json!({"required": [field], "properties": {*field: {"enum": words}}});
    json!({"if": is_so, "then": object(then, form)})
}

fn object(inputs: &[Input], form: Form) -> Value {
    let properties = inputs.iter().map(|field| (field.name.to_owned(), input(field, form)));
    let properties = properties.collect::<Map<_, _>>();
    let required: Vec<&str> =
        inputs.iter().filter(|field| field.required).map(|field| field.name).collect();
    let required = (!required.is_empty()).then_some(required);
    without_nulls(json!({"type": "object", "properties": properties, "required": required}))
}

/// Without what is not said.
fn without_nulls(mut schema: Value) -> Value {
    if let Some(said) = schema.as_object_mut() {
        said.retain(|_, value| !value.is_null());
    }
    schema
}
