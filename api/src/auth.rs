//! Keys: from the `Authorization` header to a caller.
//!
//! These are extractors, so an endpoint that takes one can't be reached
//! without. They run before the body's extractor.

use crate::path::Id;
use app::{App, Caller, Error, InstanceAccess, Need, Source, SourceKind, apikeys};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use web::address;
use web::basic::key;
use web::error::Failure;
use web::limit::{Charge, looked_up};
use web::state::{Api, Listener};

/// The holder of a customer key, and what use cases work on.
pub struct CustomerKey(pub Caller, pub App);

impl FromRequestParts<Api> for CustomerKey {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Failure> {
        let key = key(&parts.headers).ok_or(Error::NOT_AUTHORIZED)?;
        let source = source(parts, api, SourceKind::CustomerApi);
        let found = apikeys::authenticate(source, &api.app, &key).await;
        let charge = parts.extensions.get::<Charge>();
        let caller = looked_up(charge, found, Caller::account_id)?;
        Ok(Self(caller, api.app.clone()))
    }
}

/// An instance that the caller may see: on the Instance listener by its own
/// key, on the Customer listener by a customer key and the id in the path.
pub struct Seeing(pub InstanceAccess, pub App);

impl FromRequestParts<Api> for Seeing {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Failure> {
        Ok(Self(access(parts, api, Need::See).await?, api.app.clone()))
    }
}

/// An instance that the caller may change, under the same rules.
pub struct Changing(pub InstanceAccess, pub App);

impl FromRequestParts<Api> for Changing {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Failure> {
        Ok(Self(access(parts, api, Need::Change).await?, api.app.clone()))
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
    let CustomerKey(caller, app) = CustomerKey::from_request_parts(parts, api).await?;
    let Ok(Id(id)) = Id::from_request_parts(parts, api).await;
    Ok(InstanceAccess::of_caller(&caller, &app, id, need).await?)
}

fn source(parts: &Parts, api: &Api, kind: SourceKind) -> Source {
    let address = address::client(&parts.headers, &parts.extensions, &api.options);
    Source { kind, address }
}
