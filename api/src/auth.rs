//! Keys: from the `Authorization` header to a caller.
//!
//! These are extractors, so an endpoint that takes one can't be reached
//! without. They run before the body's extractor.

use crate::address;
use crate::error::Failure;
use crate::limit::{Charge, looked_up};
use crate::path::Id;
use crate::state::{Api, Listener};
use app::{Caller, Error, InstanceAccess, Need, Source, SourceKind, apikeys};
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use model::Secret;

/// Some clients leave the padding out.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The holder of a customer key.
pub struct CustomerKey(pub Caller);

impl FromRequestParts<Api> for CustomerKey {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Failure> {
        let key = key(&parts.headers).ok_or(Error::NOT_AUTHORIZED)?;
        let source = source(parts, api, SourceKind::CustomerApi);
        let found = apikeys::authenticate(source, &api.app, &key).await;
        let charge = parts.extensions.get::<Charge>();
        looked_up(charge, found, Caller::account_id).map(Self)
    }
}

/// An instance that the caller may see: on the Instance listener by its own
/// key, on the Customer listener by a customer key and the id in the path.
pub struct Seeing(pub InstanceAccess);

impl FromRequestParts<Api> for Seeing {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Failure> {
        access(parts, api, Need::See).await.map(Self)
    }
}

/// An instance that the caller may change, under the same rules.
pub struct Changing(pub InstanceAccess);

impl FromRequestParts<Api> for Changing {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Failure> {
        access(parts, api, Need::Change).await.map(Self)
    }
}

async fn access(parts: &mut Parts, api: &Api, need: Need) -> Result<InstanceAccess, Failure> {
    if api.listener == Listener::Instance {
        let key = key(&parts.headers).ok_or(Error::NOT_AUTHORIZED)?;
        let source = source(parts, api, SourceKind::InstanceApi);
        let found = apikeys::authenticate_instance(source, &api.app, &key).await;
        let charge = parts.extensions.get::<Charge>();
        return looked_up(charge, found, |access| access.instance().account_id);
    }
    let CustomerKey(caller) = CustomerKey::from_request_parts(parts, api).await?;
    let Ok(Id(id)) = Id::from_request_parts(parts, api).await;
    Ok(InstanceAccess::of_caller(&caller, &api.app, id, need).await?)
}

fn source(parts: &Parts, api: &Api, kind: SourceKind) -> Source {
    let address = address::client(&parts.headers, &parts.extensions, &api.options);
    Source { kind, address }
}

/// The key of HTTP Basic: as password with an empty user, or as user with an
/// empty password. Of two headers nobody knows which one a proxy has looked at.
pub fn key(headers: &HeaderMap) -> Option<Secret> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (given.next(), given.next()) else { return None };
    let header = header.to_str().ok()?;
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(LENIENT.decode(encoded.trim()).ok()?).ok()?;
    match decoded.split_once(':')? {
        ("", "") => None,
        ("", key) | (key, "") => Some(Secret::new(key)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn both_forms_of_basic_and_nothing_else() {
        let check = |header: &str, expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(header).unwrap());
            let found = key(&headers);
            assert_eq!(found.as_ref().map(Secret::expose), expected, "{header}");
        };
        let basic = |text: &str| format!("Basic {}", LENIENT.encode(text));
        check(&basic(":k3y"), Some("k3y"));
        check(&basic("k3y:"), Some("k3y"));
        check(&basic(":k3y").replace('=', ""), Some("k3y"));
        check(&basic(":k3y").replace("Basic", "bAsIc"), Some("k3y"));
        check(&basic("user:k3y"), None);
        check(&basic(":"), None);
        check(&basic("k3y"), None);
        check("Bearer k3y", None);
        check("Basic ***", None);
        check("Basic", None);
        assert_eq!(key(&HeaderMap::new()), None);
        let mut twice = HeaderMap::new();
        for text in [":k3y", ":0th3r"] {
            twice.append(AUTHORIZATION, HeaderValue::from_str(&basic(text)).unwrap());
        }
        assert_eq!(key(&twice), None);
    }
}
