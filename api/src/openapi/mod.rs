//! `GET /openapi.json`: what this listener serves, made of the route table and
//! of what each endpoint says of itself.
//!
//! Examples are values of the bodies' own types and the schemas of answers are
//! read off them, so neither can say what the code does not.

mod about;
mod document;
mod schema;

pub use about::{About, Input};

use crate::routes;
use crate::state::{Api, Listener};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use std::sync::OnceLock;

pub async fn handle(State(api): State<Api>) -> Response {
    ([(CONTENT_TYPE, "application/json")], text(api.listener)).into_response()
}

pub fn about() -> About {
    About::new("Read this document").json("The OpenAPI document", &serde_json::json!({}))
}

/// Made once: the routes don't change while the program runs.
fn text(listener: Listener) -> &'static str {
    static CUSTOMER: OnceLock<String> = OnceLock::new();
    static INSTANCE: OnceLock<String> = OnceLock::new();
    let (made, table, title): (_, fn() -> _, _) = match listener {
        Listener::Instance => (&INSTANCE, routes::instance, "Castellan Instance API"),
        _ => (&CUSTOMER, routes::customer, "Castellan Customer API"),
    };
    made.get_or_init(|| document::document(title, &table()).to_pretty_json().unwrap_or_default())
}
