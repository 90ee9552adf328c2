//! What our API tells of a cluster and what the witness sees of it, in the same words,
//! so that the two can be compared.

use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The names in a list of ours or the witness's, sorted.
pub fn names(list: &Value) -> Vec<&str> {
    let all = list.as_array().unwrap().iter();
    let mut names: Vec<&str> = all.filter_map(|it| it["name"].as_str()).collect();
    names.sort_unstable();
    names
}

/// A topic as the witness has it; null if there is none.
pub fn seen_topic(seen: &Value, name: &str) -> Value {
    let found = seen["topics"].as_array().unwrap().iter().find(|topic| topic["name"] == name);
    found.cloned().unwrap_or_default()
}

/// Settings of a topic as Kafka has them, where all are texts.
pub fn texts(config: &Value) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let all = config.as_object().unwrap().iter();
    all.map(|(name, value)| (name.clone(), text(value))).collect()
}

/// Of each partition, by number: who leads it, where its copies are, and which of them
/// are in sync.
pub fn partitions(details: &Value) -> Vec<Value> {
    let row = |it: &Value| {
        json!([it["partition"], it["leader"], sorted(&it["replicas"]), sorted(&it["in_sync"])])
    };
    by_number(details, row)
}

/// The same of what stays while servers are restarted.
pub fn copies(details: &Value) -> Vec<Value> {
    by_number(details, |it| json!([it["partition"], sorted(&it["replicas"])]))
}

fn by_number(details: &Value, row: impl Fn(&Value) -> Value) -> Vec<Value> {
    let mut rows: Vec<Value> = details.as_array().into_iter().flatten().map(row).collect();
    rows.sort_by_key(|row| row[0].as_i64());
    rows
}

fn sorted(numbers: &Value) -> Vec<i64> {
    let all = numbers.as_array().unwrap().iter();
    let mut numbers: Vec<i64> = all.filter_map(Value::as_i64).collect();
    numbers.sort_unstable();
    numbers
}

/// Where each message is and what it says.
pub fn places(messages: &Value) -> BTreeSet<String> {
    let all = messages.as_array().unwrap().iter();
    all.map(|it| format!("{}-{} {}", it["partition"], it["offset"], it["value"])).collect()
}

/// Users with passwords, as our API tells them.
pub fn told_users(users: &Value) -> Vec<&str> {
    let all = users.as_array().unwrap().iter().filter(|user| user["type"] == "sasl");
    all.filter_map(|user| user["name"].as_str()).collect()
}

/// The same of the witness, but for those whom nobody is told of.
pub fn seen_users(seen: &Value) -> Vec<&str> {
    let all = seen["users"].as_object().unwrap().keys().map(String::as_str);
    all.filter(|name| !model::is_reserved(name)).collect()
}

/// Rights as our API tells them.
pub fn told_rights(acls: &Value) -> Vec<Value> {
    let upper = |word: &Value| word.as_str().unwrap().to_uppercase();
    let row = |acl: &Value| {
        let user = format!("User:{}", acl["name"].as_str().unwrap());
        let (operation, resource) = (upper(&acl["operation"]), upper(&acl["resource"]));
        let pattern = upper(&acl["resource_pattern_type"]);
        json!([user, operation, resource, acl["resource_pattern"], pattern, "ALLOW", "*"])
    };
    in_order(acls.as_array().unwrap().iter().map(row))
}

/// The same of the witness, but for those of the default user and of whom nobody is
/// told of.
pub fn seen_rights(seen: &Value, default_user: &str) -> Vec<Value> {
    let is_told = |row: &&Value| {
        let user = row[0].as_str().and_then(|principal| principal.strip_prefix("User:"));
        user.is_some_and(|name| name != default_user && !model::is_reserved(name))
    };
    in_order(seen["acls"].as_array().unwrap().iter().filter(is_told).cloned())
}

fn in_order(rows: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut rows: Vec<Value> = rows.collect();
    rows.sort_by_cached_key(ToString::to_string);
    rows
}

/// What a group has committed, by partition, as our API tells it.
pub fn told_offsets(group: &Value) -> Value {
    let at = |it: &Value| format!("{}-{}", it["topic"].as_str().unwrap(), it["partition"]);
    let all = group["offsets"].as_array().unwrap().iter();
    all.map(|it| (at(it), it["offset"].clone())).collect()
}

/// Settings of all brokers as `GET config/kafka` tells them.
pub fn listed(chosen: &Value) -> Value {
    let all = chosen.as_object().unwrap().iter();
    all.map(|(name, value)| json!({"name": name, "value": value})).collect()
}

/// How many brokers go by all of these settings, as the witness sees them.
pub fn going_by(seen: &Value, chosen: &Value) -> usize {
    let chosen = chosen.as_object().unwrap();
    let goes = |broker: &&Value| chosen.iter().all(|(name, it)| broker[name] == *it.to_string());
    seen["brokers"].as_object().unwrap().values().filter(goes).count()
}
