//! What surrounds every request: who may connect at all and until when, its id,
//! its charge to the rate limit, the headers of every answer, the access log,
//! and a net for panics.
//!
//! Query strings, bodies, keys and tokens are never logged.

use crate::address;
use crate::error::{Failure, respond};
use crate::limit::{Charge, EXEMPT};
use crate::state::{Api, Listener};
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use http_body_util::BodyExt as _;
use std::panic::AssertUnwindSafe;
use std::time::Instant;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::Instrument as _;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What stands for the token of a link in the table of routes.
pub const TOKEN: &str = "{token}";
/// What the token of a link follows.
const LINKS: [&str; 2] = ["/invitations", "/confirmations"];

pub async fn around(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let under_way = api.options.under_way.token();
    let id = request_id(request.headers(), &api);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let path = loggable(request.uri().path());
    let client = address::client(request.headers(), request.extensions(), &api.options);
    let span = tracing::info_span!("request", listener = api.listener.as_str(), id = ?id);

    let may_go_on = may_connect(&api, &request).and_then(|()| still_serves(&api, &request));
    let (mut response, charge) = if let Err(refused) = may_go_on {
        (refused.into_response(), None)
    } else {
        let charge = Charge::make(&api, &request);
        charge.clone().map(|charge| request.extensions_mut().insert(charge));
        let answered = AssertUnwindSafe(next.run(request).instrument(span.clone())).catch_unwind();
        (answered.await.unwrap_or_else(|_| panicked()), charge)
    };
    finish(&api, response.status(), response.headers_mut(), id);
    charge.inspect(|charge| charge.show(response.headers_mut()));

    let status = response.status().as_u16();
    let seconds = started.elapsed().as_secs_f64();
    span.in_scope(|| {
        let client = client.map(tracing::field::display);
        // Agents call all the time, and what they say shows elsewhere.
        if api.listener == Listener::Agent {
            tracing::debug!(%method, path, status, seconds, client, "answered");
        } else {
            tracing::info!(%method, path, status, seconds, client, "answered");
        }
    });
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    api.counters.count(route, &method, response.status(), seconds);
    response.map(|body| until_sent(body, under_way))
}

/// The body, as a part of the call: one that is written while it is sent is
/// under way after the answer has begun.
fn until_sent(body: Body, under_way: TaskTrackerToken) -> Body {
    // Nothing is done with an error, but whatever looks at it lives as long as
    // the body does.
    Body::new(body.map_err(move |error| {
        let _ = &under_way;
        error
    }))
}

/// The path, without what follows where the token of a link stands: a link may be
/// mistyped, and is a secret even so.
fn loggable(path: &str) -> String {
    let bytes = path.as_bytes();
    let follows = |end: usize, word: &str| {
        let before = end.checked_sub(word.len()).map(|start| &bytes[start..end]);
        before.is_some_and(|before| before.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_end = |end: &usize| {
        matches!(bytes[*end], b'/' | b'%') && LINKS.iter().any(|word| follows(*end, word))
    };
    match (0..bytes.len()).find(is_end) {
        Some(end) => format!("{}/{TOKEN}", &path[..end]),
        None => path.to_owned(),
    }
}

/// Where TLS ends at a proxy, plain HTTP is for that proxy and for this machine.
fn may_connect(api: &Api, request: &Request) -> Result<(), Failure> {
    if !api.options.only_from_proxies || api.listener == Listener::Agent {
        return Ok(());
    }
    let peer = address::peer(request.extensions());
    if peer.is_some_and(|peer| peer.is_loopback() || address::within(peer, &api.options.proxies)) {
        return Ok(());
    }
    let sentence = "This address serves its proxy alone; call the proxy with https instead";
    Err(app::Error::Forbidden(sentence.into()).into())
}

/// What comes in after a stop was asked for is to be tried again elsewhere or
/// later; whether we live and can work is still said.
fn still_serves(api: &Api, request: &Request) -> Result<(), Failure> {
    if api.options.stopping.is_cancelled() && !EXEMPT.contains(&request.uri().path()) {
        return Err(app::Error::Stopping.into());
    }
    Ok(())
}

/// The client's own id, if it is one that can stand in a log.
fn request_id(headers: &HeaderMap, api: &Api) -> HeaderValue {
    let given = headers.get(REQUEST_ID).filter(|id| {
        (1..=64).contains(&id.len())
            && id.as_bytes().iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    });
    given.cloned().unwrap_or_else(|| {
        HeaderValue::from_str(&api.app.entropy().uuid().to_string())
            .expect("a UUID is made of header characters")
    })
}

fn finish(api: &Api, status: StatusCode, headers: &mut HeaderMap, id: HeaderValue) {
    headers.insert(REQUEST_ID, id);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    if status == StatusCode::UNAUTHORIZED
        && let Some(realm) = api.listener.realm()
    {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(realm));
    }
}

/// The panic's own message is in the log, by the panic hook.
fn panicked() -> Response {
    let error = app::Error::internal("a handler panicked").to_string();
    respond(StatusCode::INTERNAL_SERVER_ERROR, error)
}
