//! `/confirmations/<token>`: the page on which the owner of an e-mail address outside a
//! team allows its alarms, or refuses all mail of this installation.
//!
//! Looking changes nothing, so a mail scanner that follows links does no harm; only the
//! form's `POST` does. The token is a secret: it is not logged, not kept by caches and
//! not sent to other sites.

use crate::body::{Body, Fields};
use crate::page::{self, STYLE, is_browser, respond};
use app::recipients::{self, Addressee, Answer};
use askama::Template;
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use model::MailStanding;
use web::error::Failure;
use web::state::Api;
use wire::customer::Message;

const GONE: &str = "This link was replaced by a later one, or nobody uses this address any more.";

#[derive(Template)]
#[template(path = "confirmation.html")]
struct FormPage<'a> {
    style: &'static str,
    team: &'a str,
    email: &'a str,
    now: &'static str,
}

/// Who holds the link, or why it does not work.
pub struct Link(Result<Addressee, Failure>);

impl FromRequestParts<Api> for Link {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Self::Rejection> {
        Ok(Self(match page::token(parts, api).await {
            Ok((token, source)) => {
                recipients::addressee(source, &api.app, token).await.map_err(Failure)
            }
            Err(failure) => Err(failure),
        }))
    }
}

/// `GET`.
pub async fn show(Link(link): Link) -> Response {
    match link {
        Ok(addressee) => form(&addressee),
        Err(failure) => page::failed(&failure, GONE),
    }
}

/// `POST` with `answer`, `allow` or `never`. A browser gets a page, every other client
/// JSON.
pub async fn answer(
    State(api): State<Api>,
    Link(link): Link,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let answered = match link {
        Err(failure) => Err(failure),
        Ok(addressee) => {
            let asked = body.ask(|fields: &mut Fields| fields.text("answer"));
            let answered = recipients::answer(&addressee, &api.app, asked).await;
            answered.map(|answer| sentence(&addressee, answer)).map_err(Failure)
        }
    };
    match answered {
        Ok(message) if is_browser(&headers) => page::notice(StatusCode::OK, "Done", &message),
        Ok(message) => Json(Message { message }).into_response(),
        Err(failure) if is_browser(&headers) => page::failed(&failure, GONE),
        Err(failure) => failure.into_response(),
    }
}

fn form(addressee: &Addressee) -> Response {
    let now = match addressee.standing() {
        MailStanding::Team => "You are in that team, so its alarms come anyway.",
        MailStanding::Confirmed => "You have allowed it. You can stop it here.",
        MailStanding::Blocked => "You get no mail from here. You can allow it again.",
        MailStanding::Asked(_) | MailStanding::Unasked => "Nothing is sent until you allow it.",
    };
    let (team, email) = (addressee.team(), addressee.email());
    respond(StatusCode::OK, &FormPage { style: STYLE, team, email, now })
}

fn sentence(addressee: &Addressee, answer: Answer) -> String {
    let (team, email) = (addressee.team(), addressee.email());
    match answer {
        Answer::Allow => format!("Alarms of the team {team} are sent to {email} from now on"),
        Answer::Never => format!("No mail is sent to {email} from here any more"),
    }
}
