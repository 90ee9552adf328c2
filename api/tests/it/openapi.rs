//! The OpenAPI documents: whole, and true.

use crate::call::{Answer, Call};
use crate::coverage::Things;
use crate::world::World;
use api::routes::{self, Guard, Route};
use axum::Router;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub async fn document(router: &Router) -> Value {
    let answer = Call::get("/openapi.json").send(router).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), "application/json");
    answer.json()
}

pub fn operation<'a>(document: &'a Value, route: &Route) -> &'a Value {
    let method = route.method.as_str().to_lowercase();
    let operation = &document["paths"][&route.path][&method];
    assert!(operation.is_object(), "{method} {} is not in the document", route.path);
    operation
}

/// All of a document, as `GET /api/plans`.
pub fn operations(document: &Value) -> BTreeSet<String> {
    let named = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    document["paths"].as_object().unwrap().iter().flat_map(named).collect()
}

/// Whether a value is what the schema says, with every field named there.
fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    // Every integer is a number.
    let is_number = kind == "integer" && kinds.contains(&json!("number"));
    if !is_number && !kinds.contains(&json!(kind)) {
        return Err(format!("{value} is not {kinds:?}"));
    }
    for item in value.as_array().into_iter().flatten() {
        fits(&schema["items"], item)?;
    }
    let Some(fields) = value.as_object() else { return Ok(()) };
    let Some(named) = schema["properties"].as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten() {
        fields.get(name.as_str().unwrap()).ok_or(format!("{name} is missing in {value}"))?;
    }
    for (name, value) in fields {
        let schema = named.get(name).ok_or(format!("{name} is not named"))?;
        fits(schema, value).map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

/// The path of a route, and the query that it needs.
pub fn filled(route: &Route, operation: &Value, things: &Things) -> String {
    let given = operation["parameters"].as_array().into_iter().flatten();
    let given = given.filter(|it| it["in"] == "query" && it["example"].is_string());
    let pair = |it: &Value| {
        format!("{}={}", it["name"].as_str().unwrap(), it["example"].as_str().unwrap())
    };
    let query = given.map(pair).collect::<Vec<_>>().join("&");
    format!("{}?{query}", things.path(&route.path))
}

fn expect_documented(operation: &Value, answer: &Answer, what: &str) {
    let response = &operation["responses"][answer.status.as_str()];
    assert!(response.is_object(), "{what} answers {}: {}", answer.status, answer.text);
    let content = &response["content"][answer.header("content-type")];
    if answer.header("content-type") == "application/json" && !content["schema"]["$ref"].is_string()
    {
        fits(&content["schema"], &answer.json()).unwrap_or_else(|fault| panic!("{what}: {fault}"));
        fits(&content["schema"], &content["example"]).unwrap();
    } else if !answer.text.is_empty() {
        assert!(content["example"].is_string() || content["example"]["error"].is_string());
    }
}

#[tokio::test]
async fn every_route_is_documented_with_its_errors_and_an_example() {
    let world = World::new().await;
    let listeners = [
        (routes::customer(), document(&world.customer).await, "customer"),
        (routes::instance(), document(&world.instance).await, "instance"),
    ];
    for (table, document, name) in listeners {
        assert_eq!(document["openapi"], "3.1.0");
        for route in &table {
            let operation = operation(&document, route);
            assert!(operation["summary"].as_str().unwrap().len() > 10);
            let responses = operation["responses"].as_object().unwrap();
            let mut expected = Vec::new();
            if route.guard != Guard::Open {
                expected.extend(["401", "429", "500", "503"]);
            }
            if route.path.contains("{id}") {
                expected.push("403");
            }
            if route.path.contains('{') {
                expected.push("404");
                let parameters = operation["parameters"].as_array().unwrap();
                let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path");
                assert_eq!(in_path.count(), route.path.matches('{').count(), "{}", route.path);
            }
            if operation["requestBody"].is_object() {
                let content = &operation["requestBody"]["content"]["application/json"];
                assert!(content["example"].is_object() || content["example"].is_array());
                expected.extend(["400", "413"]);
            }
            for status in expected {
                assert!(responses.contains_key(status), "{status} of {}", route.path);
            }
            let bare = if route.path.ends_with("cluster/restart") { "201" } else { "204" };
            for (status, response) in responses.iter().filter(|(status, _)| *status != bare) {
                let mut contents = response["content"].as_object().unwrap().values();
                assert!(contents.all(|c| c.get("example").is_some()), "{status} {}", route.path);
            }
        }
        let operations = document["paths"].as_object().unwrap().values();
        let documented: usize = operations.map(|item| item.as_object().unwrap().len()).sum();
        assert_eq!(documented, table.len(), "nothing is documented that is not there");
        insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    }
}

#[tokio::test]
async fn answers_are_what_the_documents_say() {
    let world = World::new().await;
    let customer = document(&world.customer).await;
    for route in routes::customer() {
        let world = World::new().await;
        let things = Things::make_for(&world, &route).await;
        let operation = operation(&customer, &route);
        let call = Call::new(route.method.as_str(), &filled(&route, operation, &things));
        // The documented example is one that works.
        let example = &operation["requestBody"]["content"]["application/json"]["example"];
        let call = if example.is_null() { call } else { call.json(&things.example(example)) };
        let what = format!("{} {}", route.method, route.path);
        if route.guard != Guard::Open {
            expect_documented(operation, &call.send(&world.customer).await, &what);
        }
        let answer = call.key(&world.key).send(&world.customer).await;
        assert!(answer.status.is_success(), "{what}: {}", answer.text);
        expect_documented(operation, &answer, &what);
    }
    let instance = world.create("orders", &[]).await;
    let own = document(&world.instance).await;
    for route in routes::instance() {
        let path = route.path.replace("{name}", "orders").replace("{acl_id}", "1");
        let call = Call::new(route.method.as_str(), &path).key(&instance.apikey);
        let answer = call.send(&world.instance).await;
        expect_documented(operation(&own, &route), &answer, &route.path);
    }
}

#[tokio::test]
async fn the_page_for_people_shows_every_operation_and_runs_nothing() {
    let world = World::new().await;
    for (router, table) in
        [(&world.customer, routes::customer()), (&world.instance, routes::instance())]
    {
        let page = Call::get("/docs").send(router).await;
        assert_eq!(page.status, 200);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe") && !page.text.contains("<script"), "{policy}");
        // An example may be an address; nothing leads to one.
        assert!(!page.text.contains("=\"http") && !page.text.contains("=http"));
        for route in table {
            let heading = format!("<b>{}</b> {}</code></h3>", route.method, route.path);
            assert_eq!(page.text.matches(&heading).count(), 1, "{heading}");
        }
    }
    // Texts of ours that look like markup are shown, not obeyed.
    let page = Call::get("/docs").send(&world.customer).await;
    assert!(page.text.contains("&#60;provider&#62;::&#60;region&#62;"));
}
