//! One request's charge: made as it comes in, enforced by its route, shown in
//! its answer.

use super::bucket::{Empty, Standing};
use super::limiter::{Mark, RateLimit};
use crate::error::Failure;
use crate::state::{Api, Listener};
use crate::{address, basic};
use app::Error;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use model::AccountId;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

/// Asked by machines that only want to know whether we live.
pub const EXEMPT: [&str; 2] = ["/healthz", "/readyz"];

type Charged = Result<Option<Standing>, Empty>;

/// Travels with the request.
#[derive(Clone)]
pub struct Charge {
    limit: RateLimit,
    mark: Option<Mark>,
    was_known: bool,
    charged: Arc<Mutex<Charged>>,
}

impl Charge {
    /// Charges a request before anything is looked up for it; none if it is
    /// exempt or nothing is limited.
    pub fn make(api: &Api, request: &Request) -> Option<Self> {
        let route = request.extensions().get::<MatchedPath>();
        if api.listener == Listener::Agent
            || api.options.rate_limit.is_off()
            || route.is_some_and(|route| EXEMPT.contains(&route.as_str()))
        {
            return None;
        }
        let limit = api.options.rate_limit.clone();
        let mark = basic::key(request.headers()).map(|key| Mark::from_key(api.listener, &key));
        let known = mark.and_then(|mark| limit.charge_known(mark));
        let was_known = known.is_some();
        let charged = known.unwrap_or_else(|| {
            let client = address::client(request.headers(), request.extensions(), &api.options);
            limit.charge_address(client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
        });
        Some(Self { limit, mark, was_known, charged: Arc::new(Mutex::new(charged)) })
    }

    fn charged(&self) -> Charged {
        *self.charged.lock().expect("no holder of this lock panics")
    }

    fn allowed(&self) -> Result<(), Failure> {
        match self.charged() {
            Ok(_) => Ok(()),
            Err(Empty { retry_after, .. }) => Err(Error::TooMany { retry_after }.into()),
        }
    }

    fn found(&self, account: AccountId) -> Result<(), Failure> {
        if let Some(mark) = self.mark.filter(|_| !self.was_known) {
            let charged = self.limit.found(mark, account);
            *self.charged.lock().expect("no holder of this lock panics") = charged;
        }
        self.allowed()
    }

    fn not_found(&self) {
        if let Some(mark) = self.mark {
            self.limit.forget(mark);
        }
    }

    /// Tells the client how much it has left.
    pub fn show(&self, headers: &mut HeaderMap) {
        let standing = match self.charged() {
            Ok(None) => return,
            Ok(Some(standing)) | Err(Empty { standing, .. }) => standing,
        };
        for (name, value) in [
            ("ratelimit-limit", u64::from(standing.limit)),
            ("ratelimit-remaining", u64::from(standing.remaining)),
            ("ratelimit-reset", standing.reset),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}

/// Around every route, so behind the answers to paths and methods that don't
/// exist.
pub async fn enforce(request: Request, next: Next) -> Response {
    match request.extensions().get::<Charge>().map_or(Ok(()), Charge::allowed) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

/// Takes note of what the look-up of a request's key has found.
pub fn looked_up<T>(
    charge: Option<&Charge>,
    found: app::Result<T>,
    account: impl FnOnce(&T) -> AccountId,
) -> Result<T, Failure> {
    match (charge, &found) {
        (Some(charge), Ok(holder)) => charge.found(account(holder))?,
        (Some(charge), Err(Error::NotAuthorized(_))) => charge.not_found(),
        _ => {}
    }
    Ok(found?)
}
