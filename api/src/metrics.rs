//! `GET /metrics`: our own metrics as Prometheus reads them, for this machine
//! and the networks the operator named.

use app::Error;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use web::address;
use web::error::Failure;
use web::state::Api;

const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub async fn handle(State(api): State<Api>, request: Request) -> Result<Response, Failure> {
    // The peer itself counts, not what a proxy says: a proxy on this machine
    // would otherwise open this to everybody.
    let near = address::peer(request.extensions()).is_some_and(|peer| {
        !request.headers().contains_key("x-forwarded-for")
            && (peer.is_loopback() || address::within(peer, &api.options.metrics_from))
    });
    if !near {
        let sentence = "Metrics are served to this machine and to networks the operator named";
        return Err(Error::Forbidden(sentence.into()).into());
    }
    let handle = api.options.metrics.as_ref().ok_or(Error::NotFound)?;
    Ok(([(CONTENT_TYPE, TEXT_FORMAT)], handle.render()).into_response())
}
