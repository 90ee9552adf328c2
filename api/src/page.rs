//! Pages for people: how they are sent, and what they have in common. What people
//! chose is escaped by the templates; there is no script, and the policy allows none.

use app::{Source, SourceKind};
use askama::Template;
use axum::extract::{FromRequestParts as _, Path};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, RETRY_AFTER,
    X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Secret;
use sha2::{Digest as _, Sha256};
use web::address;
use web::error::{self, Failure};
use web::state::Api;

pub const STYLE: &str = include_str!("../templates/page.css");

#[derive(Template)]
#[template(path = "notice.html")]
struct NoticePage<'a> {
    style: &'static str,
    title: &'a str,
    text: &'a str,
}

pub fn notice(status: StatusCode, title: &str, text: &str) -> Response {
    respond(status, &NoticePage { style: STYLE, title, text })
}

/// Why a link or what was sent with it did not work; `gone` for a link that does not.
pub fn failed(failure: &Failure, gone: &str) -> Response {
    let status = error::status(&failure.0);
    let text = match failure.0 {
        app::Error::NotFound => gone.to_owned(),
        ref error => error.to_string(),
    };
    if status.is_server_error() {
        error::log(&failure.0);
    }
    let mut response = notice(status, "That did not work", &text);
    if let Some(seconds) = error::retry_after(&failure.0) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// The secret at the end of a link that was mailed, and who came by it.
pub async fn token(parts: &mut Parts, api: &Api) -> Result<(Secret, Source), Failure> {
    let path = Path::<String>::from_request_parts(parts, api).await;
    let Path(token) = path.map_err(|_| Failure(app::Error::NotFound))?;
    let address = address::client(&parts.headers, &parts.extensions, &api.options);
    Ok((Secret::new(token), Source { kind: SourceKind::CustomerApi, address }))
}

/// Browsers ask for pages by name; nobody else does.
pub fn is_browser(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|accepted| accepted.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

pub fn respond(status: StatusCode, page: &impl Template) -> Response {
    let Ok(text) = page.render() else {
        return Failure(app::Error::internal("a page can't be rendered")).into_response();
    };
    let headers: [(HeaderName, HeaderValue); 5] = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (CONTENT_SECURITY_POLICY, policy()),
    ];
    (status, headers, text).into_response()
}

/// Nothing is loaded or run but the one style that stands in the page, known
/// by its hash.
fn policy() -> HeaderValue {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'"
    );
    HeaderValue::from_str(&policy).expect("base64 is made of header characters")
}
