//! `POST /api/apikeys/rotate-apikey`.

use crate::answer::SecretJson;
use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, apikeys};
use axum::extract::State;
use model::Secret;
use wire::team::RotatedKey;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
) -> Result<SecretJson<RotatedKey>, Failure> {
    let apikey = apikeys::rotate(&caller, &api.app).await?;
    Ok(SecretJson(RotatedKey { apikey }))
}

pub fn about() -> About {
    let example = RotatedKey { apikey: Secret::new("the-new-key") };
    About::new("Replace the key of this request by a new one")
        .needs(Right::UseCatalogue)
        .json("The old key has stopped; role, tags and comment are the same", &example)
}
