//! The pages themselves. What people chose is escaped by the templates; there
//! is no script, and the policy allows none.

use super::accept::sentence;
use crate::error::{self, Failure};
use app::FieldProblem;
use app::team::{Invitee, Joined};
use askama::Template;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, RETRY_AFTER,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("../../templates/page.css");

#[derive(Template)]
#[template(path = "invitation.html")]
struct FormPage<'a> {
    style: &'static str,
    team: &'a str,
    email: &'a str,
    role: &'static str,
    name: &'a str,
    problems: &'a [FieldProblem],
}

#[derive(Template)]
#[template(path = "notice.html")]
struct NoticePage<'a> {
    style: &'static str,
    title: &'a str,
    text: &'a str,
}

/// What the invitee fills in; with problems, once more.
pub fn form(invitee: &Invitee, name: &str, problems: &[FieldProblem]) -> Response {
    let invitation = invitee.invitation();
    let page = FormPage {
        style: STYLE,
        team: invitee.team(),
        email: &invitation.email,
        role: invitation.role.as_str(),
        name,
        problems,
    };
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    respond(status, &page)
}

pub fn joined(joined: &Joined) -> Response {
    let page = NoticePage { style: STYLE, title: "You are in", text: &sentence(joined) };
    respond(StatusCode::OK, &page)
}

pub fn failed(failure: &Failure) -> Response {
    let status = error::status(&failure.0);
    let text = match failure.0 {
        app::Error::NotFound => {
            "This link was used, replaced or withdrawn, or it is older than seven days. \
             Ask whoever invited you for a new one."
                .to_owned()
        }
        ref error => error.to_string(),
    };
    if status.is_server_error() {
        error::log(&failure.0);
    }
    let page = NoticePage { style: STYLE, title: "That did not work", text: &text };
    let mut response = respond(status, &page);
    if let Some(seconds) = error::retry_after(&failure.0) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn respond(status: StatusCode, page: &impl Template) -> Response {
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
