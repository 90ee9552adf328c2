//! The documents against validation: what a schema forbids is refused with the field's name,
//! and what it allows is not refused for that field. Every operation of the Customer API is
//! tried with its own example, in which one thing after another is replaced.

use crate::call::{Answer, Call};
use crate::coverage::Things;
use crate::openapi::{document, filled, operation};
use crate::world::World;
use api::routes::{self, Route};
use serde_json::{Map, Value, json};

/// A body, and the field, or fields, of which it has something else than the example.
struct Tried {
    field: String,
    body: Value,
}

/// What a schema can't know: the field, and what is said then.
const STATE: [(&str, &str); 7] = [
    ("partitions", "partition replicas in all"),
    ("replicas", "the number of servers"),
    ("min.insync.replicas", "the number of servers"),
    ("num.io.threads", "on servers of this plan"),
    ("num.network.threads", "on servers of this plan"),
    ("nodes", "for this plan"),
    ("partition", "has no partition"),
];

fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    }
}

fn is_of(kinds: &[&str], value: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => return kinds.contains(&"integer") || kinds.contains(&"number"),
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    kinds.contains(&kind)
}

fn words(schema: &Value) -> Vec<&str> {
    let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    words.filter(|word| !word.is_empty()).collect()
}

/// Numbers that are just beyond what the schema allows.
fn wrong_numbers(schema: &Value) -> Vec<Value> {
    let bound = |name: &str| schema[name].as_i64();
    let mut wrong = Vec::new();
    wrong.extend(bound("minimum").map(|least| json!(least - 1)));
    wrong.extend(bound("maximum").and_then(|most| most.checked_add(1)).map(Value::from));
    wrong.extend(bound("exclusiveMinimum").map(Value::from));
    wrong.extend(bound("multipleOf").map(|step| match step {
        1 => json!(1.5),
        step => json!(bound("minimum").unwrap_or_default() + step / 2),
    }));
    wrong
}

/// Texts that the schema does not allow.
fn wrong_texts(schema: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if !words(schema).is_empty() {
        wrong.push("nonsense".to_owned());
    }
    if schema["pattern"].as_str().is_some_and(|pattern| pattern != "^$") {
        wrong.push("\u{1}".to_owned());
    }
    if schema["format"] == "email" {
        wrong.extend(["nonsense".to_owned(), "ada@".to_owned()]);
    }
    let most = schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok());
    wrong.extend(most.map(|most| "a".repeat(most + 1)));
    wrong
}

fn wrong_values(schema: &Value) -> Vec<Value> {
    let kinds = kinds(schema);
    let others = [json!(true), json!(7), json!("text"), json!(["text"]), json!({"a": 1})];
    let mut wrong: Vec<Value> = others.into_iter().filter(|it| !is_of(&kinds, it)).collect();
    wrong.extend(wrong_numbers(schema));
    wrong.extend(wrong_texts(schema).into_iter().map(Value::from));
    if schema["minLength"] == 1 {
        wrong.push(json!(""));
    }
    if kinds.contains(&"array") && !kinds.contains(&"string") {
        let items = &schema["items"];
        wrong.extend(wrong_values(items).into_iter().map(|item| json!([item])));
        wrong.extend(schema["minItems"].as_u64().map(|_| json!([])));
        if let Some(most) = schema["maxItems"].as_u64() {
            wrong.push((0..=most).map(|number| json!(format!("item-{number}"))).collect());
        }
    }
    wrong
}

/// A value that the schema allows, if one can be told from it.
fn sample(schema: &Value) -> Option<Value> {
    let example = schema["examples"].get(0);
    let word = words(schema).first().map(|word| json!(word));
    let number = is_of(&kinds(schema), &json!(7)).then(|| {
        let least = schema["minimum"].as_i64().unwrap_or(7);
        json!(least)
    });
    example.cloned().or(word).or(number)
}

/// Values at the edge of what the schema allows.
fn right_values(schema: &Value) -> Vec<Value> {
    let mut right: Vec<Value> = words(schema).into_iter().map(Value::from).collect();
    let least = schema["minimum"].as_i64();
    right.extend(least.map(Value::from));
    right.extend(schema["maximum"].as_i64().map(Value::from));
    right.extend(schema["multipleOf"].as_i64().zip(least).map(|(step, least)| json!(least + step)));
    right
}

fn with(example: &Value, name: &str, value: Value) -> Value {
    let mut body = example.clone();
    body[name] = value;
    body
}

fn without(example: &Value, names: &[&str]) -> Value {
    let mut body = example.clone();
    body.as_object_mut().unwrap().retain(|name, _| !names.contains(&name.as_str()));
    body
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema["properties"].as_object().cloned().unwrap_or_default()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The example for each word on which other fields depend, with those as they must be, and the
/// schema of what depends on it.
fn cases(schema: &Value, example: &Value) -> Vec<(String, Value, Value)> {
    let mut cases = Vec::new();
    for part in schema["allOf"].as_array().into_iter().flatten().filter(|it| it["if"].is_object()) {
        for (field, condition) in properties(&part["if"]) {
            for word in words(&condition) {
                let mut body = with(example, &field, json!(word));
                for (name, then) in properties(&part["then"]) {
                    body[&name] = sample(&then).unwrap_or_else(|| panic!("such as what? {then}"));
                }
                cases.push((field.clone(), body, part["then"].clone()));
            }
        }
    }
    cases
}

/// A body that is a list, by what its faults are told as.
const LIST: &str = "rules";

/// What is tried of one in the list, as the whole body.
fn in_list(tried: Vec<Tried>) -> impl Iterator<Item = Tried> {
    let whole =
        |Tried { field, body }| Tried { field: format!("{LIST}[0].{field}"), body: json!([body]) };
    tried.into_iter().map(whole)
}

fn forbidden(schema: &Value, example: &Value) -> Vec<Tried> {
    let mut tried = Vec::new();
    if let Some(first) = example.get(0) {
        let no_list = |body| Tried { field: LIST.into(), body };
        tried.extend(wrong_values(schema).into_iter().map(no_list));
        tried.extend(in_list(forbidden(&schema["items"], first)));
    }
    for (field, one) in properties(schema) {
        for value in wrong_values(&one) {
            tried.push(Tried { field: field.clone(), body: with(example, &field, value) });
        }
        let item = &example[&field][0];
        if item.is_object() {
            for inner in forbidden(&one["items"], item) {
                let body = with(example, &field, json!([inner.body]));
                tried.push(Tried { field: field.clone(), body });
            }
        }
    }
    for field in names(&schema["required"]) {
        tried.push(Tried { field: field.to_owned(), body: without(example, &[field]) });
    }
    for group in schema["allOf"].as_array().into_iter().flatten() {
        let each: Vec<&str> = group["anyOf"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|one| names(&one["required"]))
            .collect();
        if !each.is_empty() {
            tried.push(Tried { field: each.join(" "), body: without(example, &each) });
        }
    }
    for (_, body, then) in cases(schema, example) {
        tried.extend(forbidden(&then, &body));
    }
    tried
}

fn allowed(schema: &Value, example: &Value) -> Vec<Tried> {
    let mut tried = Vec::new();
    if let Some(first) = example.get(0) {
        tried.extend(in_list(allowed(&schema["items"], first)));
    }
    for (field, one) in properties(schema) {
        for value in right_values(&one) {
            tried.push(Tried { field: field.clone(), body: with(example, &field, value) });
        }
    }
    for (field, body, then) in cases(schema, example) {
        tried.extend(allowed(&then, &body));
        tried.push(Tried { field, body });
    }
    tried
}

/// What is there for a call. Made anew after one that may have changed something.
struct Stage {
    world: World,
    things: Things,
}

impl Stage {
    async fn new(route: &Route) -> Self {
        let world = World::new().await;
        let things = Things::make_for(&world, route).await;
        Self { world, things }
    }

    async fn send(&self, route: &Route, operation: &Value, body: &Value) -> Answer {
        let call = Call::new(route.method.as_str(), &filled(route, operation, &self.things));
        call.json(body).key(&self.world.key).send(&self.world.customer).await
    }
}

/// Every operation with a body, the schema of that and its example.
fn with_bodies(document: &Value) -> Vec<(Route, &Value, &Value, &Value)> {
    let mut all = Vec::new();
    for route in routes::customer() {
        let described = operation(document, &route);
        let content = &described["requestBody"]["content"]["application/json"];
        if content.is_object() {
            all.push((route, described, &content["schema"], &content["example"]));
        }
    }
    all
}

#[tokio::test]
async fn what_a_schema_forbids_is_refused_by_the_name_of_the_field() {
    let document = document(&World::new().await.customer).await;
    let mut count = 0;
    for (route, operation, schema, example) in with_bodies(&document) {
        let stage = Stage::new(&route).await;
        for Tried { field, body } in forbidden(schema, &stage.things.example(example)) {
            let answer = stage.send(&route, operation, &body).await;
            let what = format!("{} {} {body}: {}", route.method, route.path, answer.text);
            assert_eq!(answer.status, 400, "{what}");
            // A key that can't be read is told as such, and not as its encoding.
            let names = field.split(' ').map(|name| name.trim_end_matches("_encoding"));
            let is_named = names.into_iter().any(|name| answer.text.contains(name));
            assert!(is_named, "{field} is not named: {what}");
            count += 1;
        }
    }
    assert!(count > 300, "only {count} were tried");
}

/// Whether a refusal is for this field and for its form.
fn is_for_its_form(answer: &Answer, field: &str) -> bool {
    let is_state = STATE.iter().any(|(name, says)| *name == field && answer.text.contains(says));
    let refused = answer.json();
    let mut errors = refused["errors"].as_array().into_iter().flatten();
    !is_state && errors.any(|error| error.get(field).is_some())
}

#[tokio::test]
async fn what_a_schema_allows_is_not_refused_for_the_form_of_the_field() {
    let document = document(&World::new().await.customer).await;
    let mut count = 0;
    for (route, operation, schema, example) in with_bodies(&document) {
        let mut stage = Stage::new(&route).await;
        for Tried { field, body } in allowed(schema, example) {
            let body = stage.things.example(&body);
            let answer = stage.send(&route, operation, &body).await;
            if answer.status.is_success() {
                stage = Stage::new(&route).await;
            } else {
                let what = format!("{} {} {body}: {}", route.method, route.path, answer.text);
                assert_eq!(answer.status, 400, "{what}");
                assert!(!is_for_its_form(&answer, &field), "{field}: {what}");
            }
            count += 1;
        }
    }
    assert!(count > 80, "only {count} were tried");
}

#[tokio::test]
async fn what_a_schema_forbids_in_a_query_is_refused_by_name() {
    let world = World::new().await;
    let document = document(&world.customer).await;
    let things = Things::make(&world).await;
    let mut count = 0;
    for route in routes::customer() {
        let operation = operation(&document, &route);
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters.filter(|it| it["in"] == "query") {
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            let numbers = wrong_numbers(schema).into_iter().map(|number| number.to_string());
            for text in wrong_texts(schema).into_iter().chain(numbers) {
                let path = filled(&route, operation, &things);
                let (path, query) = path.split_once('?').unwrap();
                let others = query.split('&').filter(|pair| !pair.starts_with(&format!("{name}=")));
                let text = text.replace('\u{1}', "%01");
                let query = others.collect::<Vec<_>>().join("&");
                let path = format!("{path}?{query}&{name}={text}");
                let call = Call::new(route.method.as_str(), &path).key(&world.key);
                let answer = call.send(&world.customer).await;
                let what = format!("{} {path}: {}", route.method, answer.text);
                assert_eq!(answer.status, 400, "{what}");
                assert!(answer.text.contains(name), "{what}");
                count += 1;
            }
        }
    }
    assert!(count > 10, "only {count} were tried");
}

#[tokio::test]
async fn fields_that_can_not_change_are_not_in_the_documents() {
    let document = document(&World::new().await.customer).await;
    let fields = |path: &str| {
        let schema = &document["paths"][path]["put"]["requestBody"]["content"]["application/json"];
        properties(&schema["schema"]).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let changeable =
        ["accept_single_copy", "disk_size", "name", "nodes", "plan", "raise_replication", "tags"];
    assert_eq!(fields("/api/instances/{id}"), changeable);
    assert_eq!(fields("/api/vpcs/{vpc_id}"), ["name", "tags"]);
    assert_eq!(fields("/api/instances/{id}/topics/{name}"), ["config", "partitions"]);
    let alarm = fields("/api/instances/{id}/alarms/{alarm_id}");
    assert!(!alarm.contains(&"type".to_owned()), "{alarm:?}");
}
