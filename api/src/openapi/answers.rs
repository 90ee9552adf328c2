//! Schemas of answers, by example.

use super::about::Answer;
use super::schema::types;
use model::Timestamp;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};

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
