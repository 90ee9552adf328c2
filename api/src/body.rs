//! What clients send: one extractor for JSON, form, multipart and query
//! string, and one type for the fields in it.
//!
//! Nothing here rejects a request. What is wrong travels as [`app::Asked`] to
//! the use case, which looks at it after key, role and visibility.

mod fields;
mod form;
mod json;
mod properties;
mod rules;
mod structures;
mod values;

pub use fields::Fields;
pub use rules::{RULES, RulesBody};

use app::{Asked, Error, Problems};
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Multipart, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use bytes::BytesMut;
use http_body_util::BodyExt as _;
use std::convert::Infallible;
use web::state::Api;

const LIMIT: usize = 1024 * 1024;
/// Of a body that is too large, this much is read and thrown away.
const DISCARDED: usize = 16 * LIMIT;
pub const TOO_LARGE: Error = Error::TooLarge { limit_kib: LIMIT / 1024 };
const SEND_HEADER: &str = "JSON needs the header Content-Type: application/json";

/// The fields of a request's body; for POST and PUT without one, of its query.
pub struct Body(Result<Fields, Error>);

/// The fields of a request's query string.
pub struct Query(Result<Fields, Error>);

impl Body {
    /// Reads a request from the fields; the faults it finds go along.
    pub fn ask<T>(self, read: impl FnOnce(&mut Fields) -> T) -> Asked<T> {
        ask(self.0, read)
    }
}

impl Query {
    pub fn ask<T>(self, read: impl FnOnce(&mut Fields) -> T) -> Asked<T> {
        ask(self.0, read)
    }
}

/// Names and values of any kind: as every body, or as the text of a properties
/// file without a content type.
pub struct SettingsBody(Result<Fields, Error>);

impl SettingsBody {
    pub fn ask<T>(self, read: impl FnOnce(&mut Fields) -> T) -> Asked<T> {
        ask(self.0, read)
    }
}

impl FromRequest<Api> for SettingsBody {
    type Rejection = Infallible;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Infallible> {
        let fields = match take(request, api).await {
            Ok(taken) if taken.is_properties() => properties::parse(&taken.bytes),
            Ok(taken) => taken.fields().await,
            Err(error) => Err(error),
        };
        Ok(Self(fields))
    }
}

fn ask<T>(fields: Result<Fields, Error>, read: impl FnOnce(&mut Fields) -> T) -> Asked<T> {
    match fields {
        Ok(mut fields) => {
            let request = read(&mut fields);
            let problems: Problems = fields.into_problems();
            Asked::read(request, problems)
        }
        Err(error) => Asked::unreadable(error),
    }
}

impl FromRequestParts<Api> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Infallible> {
        Ok(Self(query(parts)))
    }
}

impl FromRequest<Api> for Body {
    type Rejection = Infallible;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Infallible> {
        let fields = match take(request, api).await {
            Ok(taken) => taken.fields().await,
            Err(error) => Err(error),
        };
        Ok(Self(fields))
    }
}

fn query(parts: &Parts) -> Result<Fields, Error> {
    form::parse(parts.uri.query().unwrap_or_default().as_bytes(), "query string")
}

/// A request whose body has arrived.
pub struct Taken {
    pub parts: Parts,
    pub bytes: Bytes,
}

/// Waits for the body, within its limits of size and time.
pub async fn take(request: Request, api: &Api) -> Result<Taken, Error> {
    let (parts, body) = request.into_parts();
    let time = api.options.body_timeout;
    let arriving = collect(body, announced(&parts.headers));
    let Ok(bytes) = tokio::time::timeout(time, arriving).await else {
        let seconds = time.as_secs();
        return Err(unreadable(&format!("The body did not arrive within {seconds} seconds")));
    };
    Ok(Taken { parts, bytes: bytes? })
}

fn announced(headers: &HeaderMap) -> Announced {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let length: Option<usize> = length.and_then(|length| length.parse().ok());
    if length.is_none_or(|length| length <= LIMIT) {
        Announced::NotTooLarge
    } else if headers.contains_key(EXPECT) || length.is_some_and(|length| length > DISCARDED) {
        Announced::TooLargeToTake
    } else {
        Announced::TooLarge
    }
}

/// What the headers say of the body's size.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Announced {
    NotTooLarge,
    TooLarge,
    /// The client waits for leave to send it, or it is beyond all measure.
    TooLargeToTake,
}

/// The whole body. One that is too large is read on for a while and thrown
/// away: a client that is still sending would not hear the answer.
async fn collect(mut body: axum::body::Body, announced: Announced) -> Result<Bytes, Error> {
    if announced == Announced::TooLargeToTake {
        return Err(TOO_LARGE);
    }
    let (mut taken, mut seen) = (BytesMut::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| unreadable("The body broke off before its end"))?;
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len();
        if seen > DISCARDED {
            return Err(TOO_LARGE);
        }
        if seen <= LIMIT && announced == Announced::NotTooLarge {
            taken.extend_from_slice(&data);
        }
    }
    if seen > LIMIT { Err(TOO_LARGE) } else { Ok(taken.freeze()) }
}

impl Taken {
    /// Whether no content type says what it is, and it is not JSON. An empty header says
    /// nothing.
    fn is_properties(&self) -> bool {
        let said = self.parts.headers.get(CONTENT_TYPE);
        let said = said.is_some_and(|value| !value.as_bytes().trim_ascii().is_empty());
        !said && !self.bytes.is_empty() && !looks_like_json(&self.bytes)
    }

    async fn fields(self) -> Result<Fields, Error> {
        if self.bytes.is_empty() {
            return match self.parts.method {
                Method::POST | Method::PUT => query(&self.parts),
                _ => Ok(Fields::default()),
            };
        }
        match essence(&self.parts.headers).as_deref() {
            Some("application/json") => json::parse(&self.bytes),
            Some("multipart/form-data") => multipart(self).await,
            _ if looks_like_json(&self.bytes) => Err(unreadable(SEND_HEADER)),
            Some("application/x-www-form-urlencoded") => form::parse(&self.bytes, "form"),
            _ => Err(unreadable(
                "Send the body as JSON with the header Content-Type: application/json, or as a form",
            )),
        }
    }
}

/// The content type without its parameters.
fn essence(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

fn looks_like_json(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['))
}

async fn multipart(taken: Taken) -> Result<Fields, Error> {
    let broken = |_| unreadable("The multipart body can't be read");
    let request = Request::from_parts(taken.parts, taken.bytes.into());
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(|_| unreadable("The multipart body has no boundary"))?;
    let mut fields = Fields::default();
    while let Some(part) = parts.next_field().await.map_err(broken)? {
        let name = part.name().unwrap_or_default().to_owned();
        let bytes = part.bytes().await.map_err(broken)?;
        let text = String::from_utf8(bytes.into())
            .map_err(|_| unreadable("The multipart body is not UTF-8 text"))?;
        fields.add_text(&name, text);
    }
    Ok(fields)
}

fn unreadable(sentence: &str) -> Error {
    Error::Unreadable(sentence.into())
}

#[cfg(test)]
mod tests;
