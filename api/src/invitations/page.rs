//! What the link of an invitation shows.

use super::sentence;
use crate::page::{self, STYLE, respond};
use app::FieldProblem;
use app::team::{Invitee, Joined};
use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use web::error::Failure;

const GONE: &str = "This link was used, replaced or withdrawn, or it is older than seven days. \
                    Ask whoever invited you for a new one.";

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
    page::notice(StatusCode::OK, "You are in", &sentence(joined))
}

pub fn failed(failure: &Failure) -> Response {
    page::failed(failure, GONE)
}
