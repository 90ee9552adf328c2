//! `POST /invitations/<token>`: takes an invitation up. A browser gets a page,
//! every other client JSON.

use super::{Link, page};
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::page::is_browser;
use crate::state::Api;
use app::Error;
use app::team::{self, Acceptance, Invitee, Joined};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use model::Secret;
use wire::customer::Message;

pub async fn handle(
    State(api): State<Api>,
    Link(link): Link,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let browser = is_browser(&headers);
    let invitee = match link {
        Ok(invitee) => invitee,
        Err(failure) if browser => return page::failed(&failure),
        Err(failure) => return failure.into_response(),
    };
    let mut name = String::new();
    let asked = body.ask(|fields| {
        let accepted = acceptance(fields);
        name = accepted.name.clone().unwrap_or_default();
        accepted
    });
    match team::join(&invitee, &api.app, asked).await {
        Ok(joined) if browser => page::joined(&joined),
        Ok(joined) => Json(Message { message: sentence(&joined) }).into_response(),
        Err(error) if browser => refused(&invitee, &name, error),
        Err(error) => Failure(error).into_response(),
    }
}

fn acceptance(fields: &mut Fields) -> Acceptance {
    let password = fields.text("password").map(Secret::new);
    Acceptance { name: fields.text("name"), password }
}

/// The form again, with what was wrong; the password is typed anew.
fn refused(invitee: &Invitee, name: &str, error: Error) -> Response {
    match error {
        Error::Invalid(problems) => page::form(invitee, name, &problems),
        error => page::failed(&Failure(error)),
    }
}

pub(super) fn sentence(joined: &Joined) -> String {
    format!("Welcome, {}; you are in the team {} now", joined.name, joined.team)
}
