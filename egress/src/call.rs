//! One call, and what became of it.
//!
//! A call goes where its address says and nowhere else: redirects are not
//! followed, proxies of the environment are not asked, and no connection is kept
//! for the next one, so that every call looks its destination up anew. Of an
//! answer the status is read, and how long to wait; its body is left alone, so
//! one without an end does no harm.

use crate::destinations::Destinations;
use crate::fault::Fault;
use jiff::fmt::rfc2822;
use model::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

const USER_AGENT: &str = concat!("Castellan/", env!("CARGO_PKG_VERSION"));
/// However long a destination asks to be left alone: alarms are for now.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

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
    #[error("no calls can be made: {0}")]
    Client(#[from] reqwest::Error),
}

#[derive(Clone)]
pub struct Caller {
    client: Client,
    destinations: Destinations,
}

impl Caller {
    pub fn new(destinations: Destinations, authority_pem: Option<&str>) -> Result<Self, BadCaller> {
        let client = Client::builder()
            .user_agent(USER_AGENT)
            .tls_backend_preconfigured(tls(authority_pem)?)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .pool_max_idle_per_host(0)
            .dns_resolver(destinations.clone())
            .build()?;
        Ok(Self { client, destinations })
    }

    pub fn destinations(&self) -> &Destinations {
        &self.destinations
    }

    /// Has no patience of its own; whoever calls it does.
    pub async fn call(&self, request: HttpRequest, now: Timestamp) -> Result<(), Fault> {
        self.destinations.check_written(&request.url).map_err(Fault::Forbidden)?;
        // A name and a password in the address become a header here, as people
        // know it from other programs.
        let post = self.client.post(request.url).headers(request.headers).body(request.body);
        match post.send().await {
            Ok(response) => outcome(&response, now),
            Err(error) => Err(Fault::of(&error)),
        }
    }
}

fn outcome(response: &Response, now: Timestamp) -> Result<(), Fault> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    if status.is_redirection() {
        return Err(Fault::Redirect(status.as_u16()));
    }
    let busy = matches!(status.as_u16(), 429 | 503);
    let retry_after = if busy { wanted_wait(response.headers(), now) } else { None };
    Err(Fault::Status { status: status.as_u16(), retry_after })
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

/// What this machine trusts and what the operator adds. On a machine that
/// trusts nobody calls without TLS still work, and the others say why not.
fn tls(authority_pem: Option<&str>) -> Result<ClientConfig, BadCaller> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(pem) = authority_pem {
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
        let found = found.map_err(|_| BadCaller::Authority)?;
        // A text without any certificate would be taken for an empty list.
        if found.is_empty() {
            return Err(BadCaller::Authority);
        }
        for certificate in found {
            roots.add(certificate).map_err(|_| BadCaller::Authority)?;
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("this provider has ciphers for them");
    Ok(config.with_root_certificates(roots).with_no_client_auth())
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

    #[test]
    fn an_authority_is_a_certificate() {
        let good = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        assert!(tls(None).is_ok());
        assert!(tls(Some(&good.cert.pem())).is_ok());
        let bad = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for text in ["", "no certificate", bad] {
            assert!(matches!(tls(Some(text)), Err(BadCaller::Authority)), "{text:?}");
        }
    }
}
