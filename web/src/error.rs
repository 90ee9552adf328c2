//! From `app::Error` to a status code and a JSON body: the one place that
//! knows both.

use app::Error;
use axum::Json;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use std::error::Error as _;
use wire::customer::ErrorBody;

/// Seconds after which a call that failed for now is worth repeating.
const RETRY_SECONDS: u64 = 5;

/// A use case's error on its way out.
#[derive(Debug)]
pub struct Failure(pub Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = status(&self.0);
        if status.is_server_error() {
            log(&self.0);
        }
        let mut response = (status, Json(body(&self.0))).into_response();
        if let Some(seconds) = retry_after(&self.0) {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

pub fn status(error: &Error) -> StatusCode {
    match error {
        Error::NotAuthorized(_) => StatusCode::UNAUTHORIZED,
        Error::Forbidden(_) => StatusCode::FORBIDDEN,
        Error::InvalidId | Error::NotFound => StatusCode::NOT_FOUND,
        Error::Unreadable(_)
        | Error::Invalid(_)
        | Error::Refused(_)
        | Error::Coded { .. }
        | Error::Partly { .. }
        | Error::Unknown(_)
        | Error::NotOnSharedPlans => StatusCode::BAD_REQUEST,
        Error::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Error::Away(_) | Error::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

pub fn retry_after(error: &Error) -> Option<u64> {
    match error {
        Error::TooMany { retry_after } => Some(*retry_after),
        Error::Away(_) | Error::Stopping => Some(RETRY_SECONDS),
        _ => None,
    }
}

pub fn body(error: &Error) -> ErrorBody {
    let sentence = error.to_string();
    match error {
        Error::Coded { code, .. } => ErrorBody {
            error: sentence.clone(),
            errors: Vec::new(),
            error_code: Some(code.0),
            message: Some(sentence),
        },
        _ => ErrorBody { error: sentence, errors: fields(error), ..ErrorBody::default() },
    }
}

fn fields(error: &Error) -> Vec<std::collections::BTreeMap<String, String>> {
    let (Error::Invalid(problems) | Error::Partly { pieces: problems, .. }) = error else {
        return Vec::new();
    };
    problems.iter().map(|problem| [(problem.field.clone(), problem.what.clone())].into()).collect()
}

/// The source is for the operator; the client gets the public sentence.
pub fn log(error: &Error) {
    if let Some(source) = error.source() {
        tracing::error!(error = %source, "a request failed");
    } else {
        tracing::info!("a request was turned away: {error}");
    }
}

/// Any answer that is an error.
pub fn respond(status: StatusCode, error: String) -> Response {
    (status, Json(ErrorBody { error, ..ErrorBody::default() })).into_response()
}

pub fn not_found() -> Failure {
    Failure(Error::NotFound)
}

/// The router adds `Allow`.
pub fn method_not_allowed() -> Response {
    let sentence = "This path does not take that method; see the Allow header";
    respond(StatusCode::METHOD_NOT_ALLOWED, sentence.into())
}
