//! Schemas of inputs, by what they are said to be.

use super::about::{Case, Sent};
use super::input::{Counts, Input, Kind, Words};
use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{
    ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};

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
pub fn input(input: &Input, form: Form) -> Schema {
    match input.kind {
        Kind::Text => worded(text(scalar(Type::String, input, form), input), input, form).into(),
        Kind::Integer => scalar(Type::Integer, input, form)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .multiple_of(input.step)
            .minimum(input.least)
            .maximum(input.most)
            .into(),
        Kind::Number => scalar(Type::Number, input, form)
            .multiple_of(input.step)
            .minimum(input.least)
            .exclusive_minimum(input.above)
            .maximum(input.most)
            .into(),
        Kind::Flag if form == Form::Text => ObjectBuilder::new()
            .schema_type(SchemaType::AnyValue)
            .description(Some(input.what))
            .enum_values(Some(FLAGS))
            .into(),
        Kind::Flag => scalar(Type::Boolean, input, form).into(),
        Kind::List => list(input, form).into(),
        Kind::Integers => integers(input, form).into(),
        Kind::CommaList => comma_list(input, form).into(),
        Kind::Map | Kind::Object(_) | Kind::Objects(_) if form == Form::Text => {
            ObjectBuilder::new()
                .schema_type(Type::String)
                .description(Some(format!("{}; as JSON", input.what)))
                .into()
        }
        Kind::Map => map(input).into(),
        Kind::Object(of) => {
            let object = object(of, Form::Json).description(Some(input.what));
            object.schema_type(types(Type::Object, !input.required)).into()
        }
        Kind::Objects(fields) => objects(input, fields).into(),
    }
}

/// A text says that something is not given by being empty, JSON also by null.
fn scalar(kind: Type, input: &Input, form: Form) -> ObjectBuilder {
    let schema = ObjectBuilder::new().description(Some(input.what));
    match form {
        _ if input.required || kind == Type::String && form == Form::Text => {
            schema.schema_type(kind)
        }
        Form::Json => schema.schema_type(types(kind, true)),
        Form::Text => schema.schema_type(either(kind, Type::String)).pattern(Some("^$")),
    }
}

fn list(input: &Input, form: Form) -> ArrayBuilder {
    let item = ObjectBuilder::new().schema_type(Type::String);
    let (kinds, item) = match form {
        Form::Json => (types(Type::Array, !input.required), text(item, input)),
        Form::Text => (either(Type::Array, Type::String), item),
    };
    let list = ArrayBuilder::new().schema_type(kinds).items(RefOr::T(item.into()));
    let list = list.min_items(input.least_items).max_items(input.most_items);
    list.description(Some(input.what))
}

fn integers(input: &Input, form: Form) -> ArrayBuilder {
    let kinds = match form {
        Form::Json => types(Type::Array, !input.required),
        Form::Text => either(Type::Array, Type::String),
    };
    let item = ObjectBuilder::new().schema_type(Type::Integer);
    let list = ArrayBuilder::new().schema_type(kinds).items(RefOr::T(item.into()));
    list.description(Some(input.what))
}

/// One text `a,b`, or a list all the same.
fn comma_list(input: &Input, form: Form) -> ArrayBuilder {
    let null = (form == Form::Json).then_some(Type::Null);
    let kinds: SchemaType = [Type::String, Type::Array].into_iter().chain(null).collect();
    let item = ObjectBuilder::new().schema_type(Type::String);
    let list = ArrayBuilder::new().schema_type(kinds).items(RefOr::T(item.into()));
    list.description(Some(input.what))
}

/// Values that a text can be made of.
fn map(input: &Input) -> ObjectBuilder {
    let value: SchemaType =
        [Type::String, Type::Number, Type::Boolean, Type::Null].into_iter().collect();
    ObjectBuilder::new()
        .schema_type(types(Type::Object, !input.required))
        .additional_properties(Some(ObjectBuilder::new().schema_type(value)))
        .description(Some(input.what))
}

fn objects(input: &Input, of: &[Input]) -> ArrayBuilder {
    ArrayBuilder::new()
        .schema_type(types(Type::Array, !input.required))
        .items(RefOr::T(object(of, Form::Json).into()))
        .min_items(input.least_items.or_else(|| input.required.then_some(1)))
        .max_items(input.most_items)
        .description(Some(input.what))
}

fn text(schema: ObjectBuilder, input: &Input) -> ObjectBuilder {
    let length = |bound: Option<i64>| bound.and_then(|bound| usize::try_from(bound).ok());
    schema.min_length(length(input.least)).max_length(length(input.most)).pattern(input.pattern)
}

/// With the words that it may be. One that is not required may also say nothing.
fn worded(schema: ObjectBuilder, input: &Input, form: Form) -> ObjectBuilder {
    let schema = schema.examples(input.example);
    let schema = if input.is_email {
        schema.format(Some(SchemaFormat::Custom("email".into())))
    } else {
        schema
    };
    match input.words {
        None => schema,
        Some(Words::Exactly(words)) => {
            let mut all: Vec<Value> = words().into_iter().map(Value::from).collect();
            if !input.required {
                all.push("".into());
                all.extend((form == Form::Json).then_some(Value::Null));
            }
            schema.enum_values(Some(all))
        }
        Some(Words::AnyCase(words)) => {
            let each: Vec<String> = words().into_iter().map(any_case).collect();
            let or_none = if input.required { "" } else { "?" };
            schema.pattern(Some(format!("^({}){or_none}$", each.join("|"))))
        }
    }
}

/// Such as `[Rr][Ee][Aa][Dd]`.
fn any_case(word: &str) -> String {
    let either =
        |letter: char| format!("[{}{}]", letter.to_ascii_uppercase(), letter.to_ascii_lowercase());
    word.chars().map(either).collect()
}

/// A body: its fields, and what they must be together.
pub fn body(sent: &Sent, form: Form) -> Schema {
    let groups = sent.groups.iter().map(|group| {
        let each = group.iter().filter_map(|(name, counts)| {
            let field = sent.fields.iter().find(|field| field.name == *name)?;
            Some(json!({"required": [name], "properties": {*name: counted(field, *counts, form)}}))
        });
        json!({"anyOf": each.collect::<Vec<_>>()})
    });
    let together: Vec<Value> =
        groups.chain(sent.cases.iter().map(|case| case_schema(case, form))).collect();
    let schema = object(&sent.fields, form);
    if together.is_empty() {
        return schema.into();
    }
    schema.extensions(Some(Extensions::from_iter([("allOf", Value::from(together))]))).into()
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
    json!({"if": is_so, "then": Schema::from(object(then, form))})
}

fn object(inputs: &[Input], form: Form) -> ObjectBuilder {
    let mut object = ObjectBuilder::new().schema_type(Type::Object);
    for field in inputs {
        object = object.property(field.name, input(field, form));
        if field.required {
            object = object.required(field.name);
        }
    }
    object
}

pub(super) fn types(kind: Type, or_null: bool) -> SchemaType {
    if or_null { either(kind, Type::Null) } else { kind.into() }
}

fn either(one: Type, other: Type) -> SchemaType {
    [one, other].into_iter().collect()
}
