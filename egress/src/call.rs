//! One call, and what became of it.
//!
//! A call goes where its address says and nowhere else: redirects are not
//! followed, and proxies of the environment are not asked. A connection is kept
//! for the next call only where the caller wants that; each new one looks its
//! destination up anew. Of an answer the status is read, and how long to wait;
//! of its body no more than was asked for, so one without an end does no harm.

use crate::destinations::Destinations;
use crate::fault::Fault;
use crate::lookup::SystemLookup;
use crate::proxy::{BadProxy, Proxy};
use crate::tls::tls;
use jiff::fmt::rfc2822;
use model::Timestamp;
use model::agent::Outbound;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use rustls::ClientConfig;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

const USER_AGENT: &str = concat!("Castellan/", env!("CARGO_PKG_VERSION"));
/// However long a destination asks to be left alone: alarms are for now.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// Of the statuses of a proxy the one that no destination has.
const PROXY_WANTS_LOGIN: StatusCode = StatusCode::PROXY_AUTHENTICATION_REQUIRED;
/// Connections that wait for the next call to the same host.
const MOST_KEPT: usize = 8;

/// A call to be made: a POST of JSON.
pub struct HttpRequest {
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl HttpRequest {
    pub fn new(url: Url, body: Vec<u8>) -> Self {
        let json = HeaderValue::from_static("application/json");
        Self { url, headers: HeaderMap::from_iter([(CONTENT_TYPE, json)]), body }
    }

    pub fn json(url: Url, body: &Value) -> Self {
        Self::new(url, body.to_string().into_bytes())
    }

    /// None: a header can't hold that value.
    pub fn header(mut self, name: HeaderName, value: &str) -> Option<Self> {
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Some(self)
    }
}

/// Why no calls can be made.
#[derive(Debug, thiserror::Error)]
pub enum BadCaller {
    #[error("the authority of others' certificates is no certificate in PEM")]
    Authority,
    #[error(transparent)]
    Proxy(#[from] BadProxy),
    #[error("no calls can be made: {0}")]
    Client(#[from] reqwest::Error),
}

/// How calls leave.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// Of others' certificates, as PEM, beside those that this machine trusts.
    pub authority_pem: Option<String>,
    pub proxy: Option<Proxy>,
    /// For how long a connection waits for the next call to the same host. Zero: each call
    /// has its own.
    pub kept_for: Duration,
}

/// What a destination answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Never one of a redirect.
    pub status: u16,
    /// How long to wait, if the destination is busy and has named a time.
    pub retry_after: Option<Duration>,
    /// Its beginning, for us to take numbers from: nothing of it is for people.
    pub body: Vec<u8>,
}

impl Answer {
    pub fn outcome(&self) -> Result<(), Fault> {
        match self.status {
            200..300 => Ok(()),
            status => Err(Fault::Status { status, retry_after: self.retry_after }),
        }
    }
}

#[derive(Clone)]
pub struct Caller {
    client: Client,
    destinations: Destinations,
    proxy: Option<Proxy>,
    tls: Arc<ClientConfig>,
}

impl Caller {
    /// As the operator wants calls to be made. For `kept_for` see [`Calls`].
    pub fn new(outbound: &Outbound, kept_for: Duration) -> Result<Self, BadCaller> {
        let lookup = Arc::new(SystemLookup);
        let destinations = Destinations::new(outbound.allow_private_addresses, lookup);
        let proxy = outbound.proxy.as_ref().map(Proxy::parse).transpose()?;
        let authority_pem = outbound.authority_pem.clone();
        Self::with(destinations, &Calls { authority_pem, proxy, kept_for })
    }

    pub fn with(destinations: Destinations, calls: &Calls) -> Result<Self, BadCaller> {
        let tls = tls(calls.authority_pem.as_deref())?;
        let builder = Client::builder()
            .user_agent(USER_AGENT)
            .tls_backend_preconfigured(tls.clone())
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .pool_max_idle_per_host(if calls.kept_for.is_zero() { 0 } else { MOST_KEPT })
            .pool_idle_timeout(calls.kept_for);
        let builder = match &calls.proxy {
            // Every connection is one to the proxy, which may well be private.
            Some(proxy) => builder.proxy(proxy.for_calls()?).dns_resolver(destinations.unchecked()),
            None => builder.no_proxy().dns_resolver(destinations.clone()),
        };
        let (client, proxy) = (builder.build()?, calls.proxy.clone());
        Ok(Self { client, destinations, proxy, tls: Arc::new(tls) })
    }

    pub fn destinations(&self) -> &Destinations {
        &self.destinations
    }

    pub(crate) fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
    }

    pub(crate) fn tls(&self) -> &Arc<ClientConfig> {
        &self.tls
    }

    /// Has no time limit of its own: the caller sets one.
    pub async fn call(&self, request: HttpRequest, now: Timestamp) -> Result<(), Fault> {
        self.ask(request, now, 0).await?.outcome()
    }

    /// As `call`, with so many bytes of the answer's body.
    pub async fn ask(
        &self,
        request: HttpRequest,
        now: Timestamp,
        most: usize,
    ) -> Result<Answer, Fault> {
        self.destinations.check_written(&request.url).map_err(Fault::Forbidden)?;
        if let Some(host) = request.url.host().filter(|_| self.proxy.is_some()) {
            self.check_before_proxy(&host.to_owned()).await.map_err(Fault::Forbidden)?;
        }
        // Without TLS the proxy answers in the destination's place.
        let through_proxy = self.proxy.is_some() && request.url.scheme() == "http";
        // A name and a password in the address become a header here, as people
        // know it from other programs.
        let post = self.client.post(request.url).headers(request.headers).body(request.body);
        match post.send().await {
            Ok(response) if through_proxy && response.status() == PROXY_WANTS_LOGIN => {
                Err(Fault::NotPassedOn)
            }
            Ok(response) => answer(response, now, most).await,
            Err(error) => Err(self.fault(&error)),
        }
    }

    fn fault(&self, error: &reqwest::Error) -> Fault {
        match Fault::from_call(error) {
            // The proxy can't be reached, or answered that it can't reach the destination.
            Fault::Unreachable | Fault::UnknownName if self.proxy.is_some() => Fault::NotPassedOn,
            fault => fault,
        }
    }
}

async fn answer(response: Response, now: Timestamp, most: usize) -> Result<Answer, Fault> {
    let status = response.status();
    if status.is_redirection() {
        return Err(Fault::Redirect(status.as_u16()));
    }
    let busy = matches!(status.as_u16(), 429 | 503);
    let retry_after = if busy { wanted_wait(response.headers(), now) } else { None };
    let body = if most == 0 { Vec::new() } else { beginning(response, most).await };
    Ok(Answer { status: status.as_u16(), retry_after, body })
}

/// A body that is read to its end leaves the connection to the next call. One that breaks off
/// changes nothing about the status.
async fn beginning(mut response: Response, most: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        let room = most - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            break;
        }
    }
    body
}

/// Seconds or a date, as the header may hold either.
fn wanted_wait(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = if let Ok(seconds) = text.parse() {
        Duration::from_secs(seconds)
    } else {
        let then = rfc2822::parse(text).ok()?.timestamp();
        Duration::try_from(then.duration_since(now)).unwrap_or_default()
    };
    Some(wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait() {
        let now = "2026-11-15T12:00:00Z".parse().unwrap();
        let check = |header: &str, expected: Option<u64>| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, header.parse().unwrap())]);
            let wait = wanted_wait(&headers, now).map(|wait| wait.as_secs());
            assert_eq!(wait, expected, "{header:?}");
        };
        check("0", Some(0));
        check(" 30 ", Some(30));
        check("3601", Some(3600));
        check("99999999999999", Some(3600));
        check("Sun, 15 Nov 2026 12:01:00 GMT", Some(60));
        check("Sun, 15 Nov 2026 11:00:00 GMT", Some(0));
        check("Wed, 15 Nov 2028 12:00:00 GMT", Some(3600));
        check("-5", None);
        check("soon", None);
        check("", None);
    }
}
