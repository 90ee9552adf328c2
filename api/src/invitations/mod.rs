//! `/invitations/<token>`: the small page that an invitation's link opens.
//!
//! Looking uses nothing up, so a mail scanner that follows links does no harm;
//! only the form's `POST` takes the invitation. The token is a secret: it is
//! not logged, not kept by caches and not told to other sites.

pub mod accept;
pub mod show;

mod page;

use crate::address;
use crate::error::Failure;
use crate::state::Api;
use app::team::{self, Invitee};
use app::{Source, SourceKind};
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use model::Secret;

/// Whoever holds the link, or why it does not work.
pub struct Link(pub Result<Invitee, Failure>);

impl FromRequestParts<Api> for Link {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Self::Rejection> {
        let token = Path::<String>::from_request_parts(parts, api).await;
        let Ok(Path(token)) = token else { return Ok(Self(Err(app::Error::NotFound.into()))) };
        let address = address::client(&parts.headers, &parts.extensions, &api.options);
        let source = Source { kind: SourceKind::CustomerApi, address };
        let found = team::invitee(source, &api.app, Secret::new(token)).await;
        Ok(Self(found.map_err(Failure)))
    }
}
