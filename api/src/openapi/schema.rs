//! Schemas: of inputs by what they are said to be, of answers by example.

use super::about::{Answer, Input, Kind};
use model::Timestamp;
use serde_json::Value;
use utoipa::openapi::RefOr;
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
        Kind::Text => text(scalar(Type::String, input, form), input).into(),
        Kind::Integer => scalar(Type::Integer, input, form)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(input.least)
            .maximum(input.most)
            .into(),
        Kind::Number => scalar(Type::Number, input, form)
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
        .items(RefOr::T(fields(of, Form::Json)))
        .min_items(input.required.then_some(1))
        .description(Some(input.what))
}

fn text(schema: ObjectBuilder, input: &Input) -> ObjectBuilder {
    let length = |bound: Option<i64>| bound.and_then(|bound| usize::try_from(bound).ok());
    schema.min_length(length(input.least)).max_length(length(input.most)).pattern(input.pattern)
}

/// A body of these fields.
pub fn fields(inputs: &[Input], form: Form) -> Schema {
    object(inputs, form).into()
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

/// What an answer looks like, read off its example: a value of the very type
/// that is sent. What no example can show is said beside it.
pub fn answer(answer: &Answer, example: &Value) -> Schema {
    like(example, answer)
}

fn like(value: &Value, answer: &Answer) -> Schema {
    match value {
        Value::Null => ObjectBuilder::new().schema_type(SchemaType::AnyValue).into(),
        Value::Bool(_) => ObjectBuilder::new().schema_type(Type::Boolean).into(),
        Value::Number(number) if number.is_f64() => {
            ObjectBuilder::new().schema_type(Type::Number).into()
        }
        Value::Number(_) => ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .into(),
        Value::String(text) => {
            ObjectBuilder::new().schema_type(Type::String).format(format(text)).into()
        }
        Value::Array(items) => {
            // A list that shows null beside a value may hold both.
            let item = items.iter().find(|item| !item.is_null()).unwrap_or(&Value::Null);
            let schema = like(item, answer);
            let nullable = items.iter().any(Value::is_null);
            let schema = if nullable { or_null(schema) } else { schema };
            ArrayBuilder::new().items(RefOr::T(schema)).into()
        }
        Value::Object(fields) => {
            let mut object = ObjectBuilder::new().schema_type(Type::Object);
            for (name, value) in fields {
                let name = name.as_str();
                let schema =
                    if answer.open.contains(&name) { any(value) } else { like(value, answer) };
                let nullable = answer.nullable.contains(&name);
                object = object.property(name, if nullable { or_null(schema) } else { schema });
                if !answer.optional.contains(&name) {
                    object = object.required(name);
                }
            }
            object.into()
        }
    }
}

/// Anything of its kind: of an object, under any name.
fn any(value: &Value) -> Schema {
    let kinds: SchemaType = match value {
        Value::Object(_) => Type::Object.into(),
        _ => [Type::String, Type::Number, Type::Boolean].into_iter().collect(),
    };
    ObjectBuilder::new().schema_type(kinds).into()
}

/// The format that a text's own shape shows.
fn format(text: &str) -> Option<SchemaFormat> {
    if text.parse::<Timestamp>().is_ok() {
        Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))
    } else if is_uuid(text) {
        Some(SchemaFormat::Custom("uuid".into()))
    } else {
        None
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.parse::<model::AccountId>().is_ok()
}

fn or_null(mut schema: Schema) -> Schema {
    let kind = match &mut schema {
        Schema::Object(object) => &mut object.schema_type,
        Schema::Array(array) => &mut array.schema_type,
        _ => return schema,
    };
    if let SchemaType::Type(one) = kind.clone() {
        *kind = types(one, true);
    }
    schema
}

fn types(kind: Type, or_null: bool) -> SchemaType {
    if or_null { either(kind, Type::Null) } else { kind.into() }
}

fn either(one: Type, other: Type) -> SchemaType {
    [one, other].into_iter().collect()
}
