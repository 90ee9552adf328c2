//! `PUT /api/quotas`.

use super::{document, example};
use crate::auth::Changing;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Counts, Input};
use crate::state::Api;
use app::Right;
use app::quotas::{self, QuotaFields, QuotaKey};
use axum::Json;
use axum::extract::State;
use wire::quotas::Quota;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Quota>, Failure> {
    let quota = quotas::set(&access, &api.app, body.ask(fields)).await?;
    Ok(Json(document(&quota)))
}

/// A limit that is sent and says nothing is to be removed.
fn fields(fields: &mut Fields) -> QuotaFields {
    let mut asked = QuotaFields {
        user: fields.text("user"),
        client_id: fields.text("client_id"),
        ..QuotaFields::default()
    };
    for key in QuotaKey::ALL {
        if fields.is_sent(key.as_str()) {
            let limit = fields.number(key.as_str());
            asked.limits.insert(key, limit);
        }
    }
    asked
}

pub fn about() -> About {
    About::new("Set or remove limits of a user, a client id, or a user under a client id")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .body(&FIELDS, &example())
        .at_least_one(&[("user", Counts::Given), ("client_id", Counts::Given)])
        .at_least_one(&QuotaKey::ALL.map(|key| (key.as_str(), Counts::EvenNull)))
        .json("What it may use from now on", &example())
}

const FIELDS: [Input; 6] = [
    Input::text("user", "A user, or <default> for those without a quota of their own").at_most(249),
    Input::text("client_id", "A client id, or <default>").at_most(249),
    Input::number("producer_byte_rate", "Bytes a second; null removes the limit")
        .at_least(1)
        .multiple_of(1),
    Input::number("consumer_byte_rate", "Bytes a second; null removes the limit")
        .at_least(1)
        .multiple_of(1),
    Input::number("request_percentage", "Percent of one thread's time; null removes the limit")
        .more_than(0),
    Input::number("controller_mutation_rate", "Partitions a second; null removes the limit")
        .more_than(0),
];
