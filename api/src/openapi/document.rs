//! The document of one listener.

use super::schema::{self, Form};
use crate::about::{About, Input, Sent, answers};
use crate::routes::{Guard, Route};
use app::{Error, Right};
use axum::http::StatusCode;
use model::Role;
use serde_json::{Map, Value, json};
use web::error;
use wire::customer::ErrorBody;

/// What stands between braces in paths.
const PLACEHOLDERS: [Input; 13] = [
    Input::integer("id", "The instance's id").at_least(1).required(),
    Input::integer("action_id", "The action's id").at_least(1).required(),
    Input::integer("vpc_id", "The network's id").at_least(1).required(),
    Input::integer("invoice_id", "The invoice's id").at_least(1).required(),
    Input::text("serial", "The certificate's serial in hex")
        .like("^[0-9a-f]{32}$")
        .such_as("4f1c22d0a3b94e5f8a6d7c0b1e2f3a4b")
        .required(),
    Input::text("user_id", "The team member's id, a UUID").required(),
    Input::text("key_id", "The key's id, a UUID").required(),
    Input::text("session_id", "The session's id, a UUID").required(),
    Input::integer("acl_id", "The ACL's id").at_least(1).required(),
    Input::integer("alarm_id", "The alarm's id").at_least(1).required(),
    Input::integer("recipient_id", "The recipient's id").at_least(1).required(),
    Input::integer("integration_id", "The integration's id").at_least(1).required(),
    Input::text("name", "The thing's name in the cluster").required(),
];
/// On every answer that is charged to somebody, and what they say.
const LIMITS: [(&str, &str); 3] = [
    ("RateLimit-Limit", "Requests that are let through at once"),
    ("RateLimit-Remaining", "How many of them are left"),
    ("RateLimit-Reset", "Seconds until all of them are there again"),
];

pub fn document(title: &str, table: &[Route]) -> Value {
    let mut paths = json!({});
    for route in table {
        if let Some(about) = &route.about {
            let method = route.method.as_str().to_lowercase();
            paths[&route.path][method] = operation(route, &about());
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": title, "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
        "components": components(),
    })
}

fn operation(route: &Route, about: &About) -> Value {
    let named = |input: &&Input| route.path.contains(&format!("{{{}}}", input.name));
    let in_path = PLACEHOLDERS.iter().filter(named).map(|input| parameter(input, "path"));
    let in_query = about.query.iter().map(|input| parameter(input, "query"));
    let in_headers = about.headers.iter().map(|input| parameter(input, "header"));
    let parameters: Vec<Value> = in_path.chain(in_query).chain(in_headers).collect();
    let mut responses = Map::new();
    responses.insert(about.answer.status.to_string(), success(route, about));
    for error in refusals(route, about) {
        let status = error::status(&error);
        responses.insert(status.as_str().to_owned(), refusal(route, status, &error));
    }
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": about.summary,
        "responses": responses,
    });
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(sent) = &about.body {
        operation["requestBody"] = body(sent);
    }
    if guarded(route) {
        operation["security"] = json!([{"key": []}]);
    }
    operation
}

/// Such as `get_api_instances_id`.
fn operation_id(route: &Route) -> String {
    let words = route.path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    let method = route.method.as_str().to_lowercase();
    std::iter::once(method.as_str()).chain(words).collect::<Vec<_>>().join("_")
}

fn parameter(input: &Input, place: &str) -> Value {
    let mut parameter = json!({
        "name": input.name,
        "in": place,
        "required": input.required,
        "description": input.what,
        "schema": schema::input(input, Form::Text),
    });
    if let Some(example) = input.example {
        parameter["example"] = example.into();
    }
    parameter
}

fn body(sent: &Sent) -> Value {
    let content = |form| json!({"schema": schema::body(sent, form), "example": sent.example});
    json!({
        "required": !sent.optional,
        "content": {
            "application/json": content(Form::Json),
            "application/x-www-form-urlencoded": content(Form::Text),
            "multipart/form-data": content(Form::Text),
        },
    })
}

fn success(route: &Route, about: &About) -> Value {
    let answer = &about.answer;
    let mut response = response(route, answer.what);
    if let Some(content) = &answer.content {
        let built = json!({"schema": content.schema, "example": content.example});
        response["content"] = json!({content.kind: built});
    }
    for (name, what) in answer.headers {
        response["headers"][name] = number(what);
    }
    response
}

/// Every way in which this operation may be refused, as it is said.
fn refusals(route: &Route, about: &About) -> Vec<Error> {
    if route.path == "/healthz" {
        return Vec::new();
    }
    let mut refusals = vec![Error::Stopping];
    if route.path == "/readyz" {
        return refusals;
    }
    refusals.extend([Error::TooMany { retry_after: 1 }, Error::internal("an example")]);
    if guarded(route) {
        refusals.push(Error::NOT_AUTHORIZED);
    }
    if route.guard == Guard::CustomerKey {
        let right = about.right.filter(|right| right.holders().len() < Role::ALL.len());
        refusals.extend(right.map(Right::needed).map(Error::Forbidden));
    }
    if route.path.contains("{id}") {
        refusals.push(Error::InvalidId);
    } else if route.path.contains('{') || about.or_not_found {
        refusals.push(Error::NotFound);
    }
    if let Some(sent) = &about.body {
        refusals.push(Error::field(sent.fields[0].name, "must be a string"));
        refusals.push(crate::body::TOO_LARGE);
    } else if let Some(input) = about.query.first() {
        refusals.push(Error::field(input.name, "must be given once"));
    } else if let Some(sentence) = about.refusal {
        refusals.push(Error::Refused(sentence.into()));
    }
    refusals
}

fn refusal(route: &Route, status: StatusCode, error: &Error) -> Value {
    let mut response = response(route, status.canonical_reason().unwrap_or_default());
    let schema = json!({"$ref": "#/components/schemas/Error"});
    response["content"] =
        json!({"application/json": {"schema": schema, "example": error::body(error)}});
    if error::retry_after(error).is_some() {
        response["headers"]["Retry-After"] = number("Seconds to wait before the next try");
    }
    if status == StatusCode::UNAUTHORIZED {
        response["headers"]["WWW-Authenticate"] = json!({"schema": {"type": "string"}});
    }
    response
}

/// With the headers of every answer that is charged to somebody.
fn response(route: &Route, what: &str) -> Value {
    let mut response = json!({"description": what});
    if !web::limit::EXEMPT.contains(&route.path.as_str()) {
        for (name, _) in LIMITS {
            response["headers"][name] = json!({"$ref": format!("#/components/headers/{name}")});
        }
    }
    response
}

fn guarded(route: &Route) -> bool {
    matches!(route.guard, Guard::CustomerKey | Guard::InstanceKey)
}

fn number(what: &str) -> Value {
    json!({"schema": {"type": "integer"}, "description": what})
}

fn components() -> Value {
    let headers = LIMITS.map(|(name, what)| (name.to_owned(), number(what)));
    let what = "The key as password with an empty user, or as user with an empty password";
    json!({
        "schemas": {"Error": answers::schema_of::<ErrorBody>()},
        "headers": Map::from_iter(headers),
        "securitySchemes": {"key": {"type": "http", "scheme": "basic", "description": what}},
    })
}
