//! `GET /docs`: the OpenAPI document as a page for people. It has no script, and
//! nothing of it comes from elsewhere.

use crate::about::About;
use crate::openapi;
use crate::routes::{Guard, Route};
use askama::Template;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::sync::OnceLock;
use web::state::Api;

const STYLE: &str = include_str!("../templates/docs.css");
const HTML: &str = "text/html; charset=utf-8";

pub async fn handle(State(api): State<Api>) -> Response {
    let page = openapi::once(api.listener, &CUSTOMER, &INSTANCE, |document, table| {
        // A page that can't be rendered is a fault of the template, and tested.
        page(document, table).render().unwrap_or_default()
    });
    let headers = [(CONTENT_SECURITY_POLICY, policy()), (CONTENT_TYPE, HTML)];
    (headers, Html(page)).into_response()
}

static CUSTOMER: OnceLock<String> = OnceLock::new();
static INSTANCE: OnceLock<String> = OnceLock::new();

pub fn about() -> About {
    About::new("Read this document as a page for people").text("A page", HTML, "<!doctype html>…")
}

/// The page's own style, and nothing else.
fn policy() -> &'static str {
    static POLICY: OnceLock<String> = OnceLock::new();
    POLICY.get_or_init(|| {
        let hash = STANDARD.encode(Sha256::digest(STYLE));
        format!(
            "default-src 'none'; style-src 'sha256-{hash}'; frame-ancestors 'none'; base-uri 'none'"
        )
    })
}

#[derive(Template)]
#[template(path = "docs.html")]
struct Page<'a> {
    title: &'a str,
    version: &'a str,
    style: &'static str,
    groups: Vec<Group<'a>>,
}

/// Operations on the same thing.
struct Group<'a> {
    name: String,
    operations: Vec<Operation<'a>>,
}

struct Operation<'a> {
    id: &'a str,
    method: &'a str,
    path: &'a str,
    summary: &'a str,
    keyed: bool,
    /// What can be given, by where it is given.
    inputs: Vec<(&'static str, Vec<Input<'a>>)>,
    body: Option<String>,
    answers: Vec<Answer<'a>>,
}

struct Input<'a> {
    name: &'a str,
    kind: String,
    required: bool,
    what: &'a str,
}

struct Answer<'a> {
    status: &'a str,
    what: &'a str,
    example: String,
}

fn page<'a>(document: &'a Value, table: &'a [Route]) -> Page<'a> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for route in table.iter().filter(|route| route.about.is_some()) {
        let name = group(&route.path);
        let operation = operation(document, route);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.operations.push(operation),
            None => groups.push(Group { name, operations: vec![operation] }),
        }
    }
    let info = &document["info"];
    Page { title: text(&info["title"]), version: text(&info["version"]), style: STYLE, groups }
}

/// The first word after `/api/`; what has none is about the service itself.
fn group(path: &str) -> String {
    let rest = path.trim_start_matches("/api");
    let word = rest.split('/').nth(1).unwrap_or_default();
    if rest.len() == path.len() { "service".into() } else { word.into() }
}

fn operation<'a>(document: &'a Value, route: &'a Route) -> Operation<'a> {
    let described = &document["paths"][&route.path][route.method.as_str().to_lowercase()];
    let body = &described["requestBody"]["content"]["application/json"];
    let mut inputs = Vec::new();
    for (place, title) in
        [("path", "In the path"), ("query", "In the query"), ("header", "Headers")]
    {
        let parameters = described["parameters"].as_array().into_iter().flatten();
        let here: Vec<Input> = parameters.filter(|one| one["in"] == place).map(parameter).collect();
        inputs.push((title, here));
    }
    // Of a body that is a list, what is in each of it.
    let schema = &body["schema"];
    let (place, schema) = match schema.get("items") {
        Some(items) => ("In each of the list that is the body", items),
        None => ("In the body", schema),
    };
    inputs.push((place, fields(schema)));
    inputs.retain(|(_, inputs)| !inputs.is_empty());
    let answers = described["responses"].as_object().into_iter().flatten();
    Operation {
        id: text(&described["operationId"]),
        method: route.method.as_str(),
        path: &route.path,
        summary: text(&described["summary"]),
        keyed: route.guard != Guard::Open,
        inputs,
        body: body.get("example").map(pretty),
        answers: answers.map(answer).collect(),
    }
}

fn parameter(given: &Value) -> Input<'_> {
    Input {
        name: text(&given["name"]),
        kind: kind(&given["schema"]),
        required: given["required"] == true,
        what: text(&given["description"]),
    }
}

fn fields(schema: &Value) -> Vec<Input<'_>> {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, schema)| Input {
            name,
            kind: kind(schema),
            required: required(name),
            what: text(&schema["description"]),
        })
        .collect()
}

/// The types that say something; null and empty texts mean "not given".
fn kind(schema: &Value) -> String {
    let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if !words.is_empty() && schema.get("type").is_some() {
        return format!("one of {}", words.join(", "));
    }
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::String(kind) => vec![kind.as_str()],
        _ => vec!["boolean"],
    };
    let named = kinds.iter().find(|kind| **kind != "null").copied().unwrap_or_default();
    if named == "array" { "list of strings".into() } else { named.into() }
}

fn answer<'a>((status, response): (&'a String, &'a Value)) -> Answer<'a> {
    let mut contents = response["content"].as_object().into_iter().flatten();
    let example = contents.next().map(|(_, content)| match &content["example"] {
        Value::String(text) => text.clone(),
        example => pretty(example),
    });
    Answer { status, what: text(&response["description"]), example: example.unwrap_or_default() }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
