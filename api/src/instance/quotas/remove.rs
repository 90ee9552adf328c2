//! `DELETE /api/quotas`.

use crate::auth::Changing;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::quotas::{self, QuotaFields};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    query: Query,
) -> Result<StatusCode, Failure> {
    quotas::remove(&access, &api.app, query.ask(fields)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn fields(fields: &mut Fields) -> QuotaFields {
    QuotaFields {
        user: fields.text("user"),
        client_id: fields.text("client_id"),
        ..QuotaFields::default()
    }
}

pub fn about() -> About {
    About::new("Remove every limit of a user, a client id, or a user under a client id")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .query(&[
            Input::text("user", "A user, or <default>").at_most(249).such_as("ada"),
            Input::text("client_id", "A client id, or <default>").at_most(249),
        ])
}
