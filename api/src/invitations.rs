//! `/invitations/<token>`: the small page that an invitation's link opens.
//!
//! Looking uses nothing up, so a mail scanner that follows links does no harm;
//! only the form's `POST` takes the invitation. The token is a secret: it is
//! not logged, not kept by caches and not told to other sites.

mod page;

use crate::body::{Body, Fields};
use crate::page::{is_browser, token};
use app::Error;
use app::team::{self, Acceptance, Invitee, Joined};
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use model::Secret;
use web::error::Failure;
use web::state::Api;
use wire::customer::Message;

/// Whoever holds the link, or why it does not work.
pub struct Link(pub Result<Invitee, Failure>);

impl FromRequestParts<Api> for Link {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Self::Rejection> {
        Ok(Self(match token(parts, api).await {
            Ok((token, source)) => team::invitee(source, &api.app, token).await.map_err(Failure),
            Err(failure) => Err(failure),
        }))
    }
}

/// `GET /invitations/<token>`.
pub async fn show(Link(link): Link) -> Response {
    match link {
        Ok(invitee) => page::form(&invitee, "", &[]),
        Err(failure) => page::failed(&failure),
    }
}

/// `POST /invitations/<token>`: takes an invitation up. A browser gets a page,
/// every other client JSON.
pub async fn accept(
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

fn sentence(joined: &Joined) -> String {
    format!("Welcome, {}; you are in the team {} now", joined.name, joined.team)
}
