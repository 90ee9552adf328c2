//! Schemas: of inputs by what they are said to be, of answers by example.

use super::about::{Input, Kind};
use model::Timestamp;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    ArrayBuilder, KnownFormat, Object, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};

const INT64: Option<SchemaFormat> = Some(SchemaFormat::KnownFormat(KnownFormat::Int64));

/// The value of one input. Where `null` means "not given", it may be that too.
pub fn input(input: &Input, or_null: bool) -> Schema {
    let or_null = or_null && !input.required;
    let what = Some(input.what);
    let scalar = |kind| ObjectBuilder::new().schema_type(types(kind, or_null));
    match input.kind {
        Kind::Text => scalar(Type::String).description(what).into(),
        Kind::Integer => scalar(Type::Integer).description(what).format(INT64).into(),
        Kind::Flag => scalar(Type::Boolean).description(what).into(),
        Kind::List => ArrayBuilder::new()
            .schema_type(types(Type::Array, or_null))
            .items(Object::with_type(Type::String))
            .description(what)
            .into(),
    }
}

/// A body of these fields.
pub fn fields(inputs: &[Input], or_null: bool) -> Schema {
    let mut object = ObjectBuilder::new();
    for field in inputs {
        object = object.property(field.name, input(field, or_null));
        if field.required {
            object = object.required(field.name);
        }
    }
    object.into()
}

/// The schema that an example is one of: every field of it is always there.
pub fn like(example: &Value, nullable: &[&str]) -> Schema {
    match example {
        Value::Null => ObjectBuilder::new().schema_type(SchemaType::AnyValue).into(),
        Value::Bool(_) => Object::with_type(Type::Boolean).into(),
        Value::Number(_) => ObjectBuilder::new().schema_type(Type::Integer).format(INT64).into(),
        Value::String(text) => {
            let time = text.parse::<Timestamp>().is_ok();
            let format = time.then_some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
            ObjectBuilder::new().schema_type(Type::String).format(format).into()
        }
        Value::Array(items) => {
            let item = items.first().unwrap_or(&Value::Null);
            ArrayBuilder::new().items(RefOr::T(like(item, nullable))).into()
        }
        Value::Object(fields) => {
            let mut object = ObjectBuilder::new();
            for (name, value) in fields {
                let schema = like(value, nullable);
                let schema =
                    if nullable.contains(&name.as_str()) { or_null(schema) } else { schema };
                object = object.property(name, schema).required(name);
            }
            object.into()
        }
    }
}

fn or_null(mut schema: Schema) -> Schema {
    if let Schema::Object(object) = &mut schema
        && let SchemaType::Type(kind) = object.schema_type.clone()
    {
        object.schema_type = types(kind, true);
    }
    schema
}

fn types(kind: Type, or_null: bool) -> SchemaType {
    if or_null { [kind, Type::Null].into_iter().collect() } else { kind.into() }
}
