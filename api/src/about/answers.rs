//! Schemas of answers, derived from the types that are sent.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// What a value of this type looks like when it is sent.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        })
        .with_transform(RecursiveTransform(as_sent));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// A field that may be left out is never null, because serde leaves out those that would be.
/// Defaults are for those who read.
fn as_sent(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, field) in fields.into_iter().flatten() {
        if let Some(field) = field.as_object_mut() {
            field.remove("default");
        }
        if !required.iter().any(|required| required == name)
            && let Some(kind) = field.get_mut("type")
            && let Some([one, Value::String(null)]) = kind.as_array().map(Vec::as_slice)
            && null == "null"
        {
            *kind = one.clone();
        }
    }
}
