//! `POST /api/instances/<ID>/account/rotate-apikey`.

use crate::answer::SecretJson;
use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::Id;
use crate::state::Api;
use app::{Right, instances};
use axum::extract::State;
use model::Secret;
use wire::customer::NewKey;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    Id(id): Id,
) -> Result<SecretJson<NewKey>, Failure> {
    let apikey = instances::rotate_apikey(&caller, &api.app, id).await?;
    Ok(SecretJson(NewKey { apikey }))
}

pub fn about() -> About {
    let apikey = Secret::new("the-new-key-of-the-instance");
    About::new("Replace the key of an instance; the old one stops at once")
        .needs(Right::ChangeInstances)
        .json("The new key", &NewKey { apikey })
}
