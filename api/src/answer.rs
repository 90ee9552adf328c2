//! The shapes of successful answers.

use axum::Json;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use web::error::Failure;

/// A document, or why there is none.
pub type Answer<T> = Result<Json<T>, Failure>;

const NO_STORE: (HeaderName, HeaderValue) = (CACHE_CONTROL, HeaderValue::from_static("no-store"));

const JSON: (HeaderName, HeaderValue) =
    (CONTENT_TYPE, HeaderValue::from_static("application/json"));

/// A JSON document that holds secrets, so nobody on the way may keep it.
pub struct SecretJson<T>(pub T);

impl<T: Serialize> IntoResponse for SecretJson<T> {
    fn into_response(self) -> Response {
        ([NO_STORE], Json(self.0)).into_response()
    }
}

/// The same, where it was written before.
pub struct SecretDocument(pub Bytes);

impl IntoResponse for SecretDocument {
    fn into_response(self) -> Response {
        ([NO_STORE, JSON], self.0).into_response()
    }
}

pub fn written(document: &impl Serialize) -> Bytes {
    serde_json::to_vec(document).expect("plain data serialises").into()
}

pub const PEM: &str = "text/plain; charset=utf-8";

/// A certificate as text.
pub struct Pem(pub String);

impl IntoResponse for Pem {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, HeaderValue::from_static(PEM))], self.0).into_response()
    }
}
