//! `/api/quotas`.

use crate::about::{About, Counts, Input};
use crate::answer::Answer;
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields, Query};
use app::Right;
use app::quotas::{self, Name, QuotaFields, QuotaKey};
use axum::Json;
use axum::http::StatusCode;
use web::error::Failure;
use wire::quotas::Quota;

fn document(quota: &quotas::Quota) -> Quota {
    let limit = |key| quota.limits.get(&key).copied();
    let name = |name: &Option<Name>| name.as_ref().map(ToString::to_string);
    Quota {
        user: name(&quota.entity.user),
        client_id: name(&quota.entity.client_id),
        producer_byte_rate: limit(QuotaKey::ProducerByteRate),
        consumer_byte_rate: limit(QuotaKey::ConsumerByteRate),
        request_percentage: limit(QuotaKey::RequestPercentage),
        controller_mutation_rate: limit(QuotaKey::ControllerMutationRate),
    }
}

fn example() -> Quota {
    Quota {
        user: Some("ada".into()),
        client_id: Some("reports".into()),
        producer_byte_rate: Some(1_048_576.0),
        consumer_byte_rate: Some(2_097_152.0),
        request_percentage: Some(12.5),
        controller_mutation_rate: Some(5.5),
    }
}

/// `GET /api/quotas`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<Quota>> {
    let quotas = quotas::list(&access, &app).await?;
    Ok(Json(quotas.iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List what users and client ids may use of each broker")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("Quotas, by user and then by client id", example())
}

/// `PUT /api/quotas`.
pub async fn set(Changing(access, app): Changing, body: Body) -> Answer<Quota> {
    let quota = quotas::set(&access, &app, body.ask(set_fields)).await?;
    Ok(Json(document(&quota)))
}

/// A limit that is sent and says nothing is to be removed.
fn set_fields(fields: &mut Fields) -> QuotaFields {
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

pub fn about_set() -> About {
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

/// `DELETE /api/quotas`.
pub async fn remove(Changing(access, app): Changing, query: Query) -> Result<StatusCode, Failure> {
    quotas::remove(&access, &app, query.ask(remove_fields)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn remove_fields(fields: &mut Fields) -> QuotaFields {
    QuotaFields {
        user: fields.text("user"),
        client_id: fields.text("client_id"),
        ..QuotaFields::default()
    }
}

pub fn about_remove() -> About {
    About::new("Remove every limit of a user, a client id, or a user under a client id")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .query(&[
            Input::text("user", "A user, or <default>").at_most(249).such_as("ada"),
            Input::text("client_id", "A client id, or <default>").at_most(249),
        ])
}
