//! `GET /openapi.json`: what this listener serves, made of the route table and
//! of what each endpoint says of itself.
//!
//! Examples are values of the answers' own types, and the schemas of answers are
//! derived from those, so neither can say what the code does not.

mod document;
mod schema;

use crate::about::About;
use crate::routes::{self, Route};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::sync::OnceLock;
use web::state::{Api, Listener};

pub async fn handle(State(api): State<Api>) -> Response {
    static CUSTOMER: OnceLock<String> = OnceLock::new();
    static INSTANCE: OnceLock<String> = OnceLock::new();
    let text = once(api.listener, &CUSTOMER, &INSTANCE, |document, _| {
        serde_json::to_string_pretty(document).unwrap_or_default()
    });
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

pub fn about() -> About {
    About::new("Read this document").json("The OpenAPI document", &serde_json::Map::new())
}

/// A text made of a listener's document and its routes. Made once: neither
/// changes while the program runs.
pub fn once(
    listener: Listener,
    customer: &'static OnceLock<String>,
    instance: &'static OnceLock<String>,
    write: impl FnOnce(&Value, &[Route]) -> String,
) -> &'static str {
    let (made, table, title): (_, fn() -> Vec<Route>, _) = match listener {
        Listener::Instance => (instance, routes::instance, "Castellan Instance API"),
        _ => (customer, routes::customer, "Castellan Customer API"),
    };
    made.get_or_init(|| {
        let table = table();
        write(&document::document(title, &table), &table)
    })
}
