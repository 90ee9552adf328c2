//! `/api/instances/<ID>/account/…`.

use crate::about::About;
use crate::answer::SecretJson;
use crate::auth::{Changing, CustomerKey};
use crate::path::Id;
use app::{Right, instances, users};
use axum::http::StatusCode;
use model::Secret;
use web::error::Failure;
use wire::customer::NewKey;

/// `POST /api/instances/<ID>/account/rotate-apikey`.
pub async fn rotate_apikey(
    CustomerKey(caller, app): CustomerKey,
    Id(id): Id,
) -> Result<SecretJson<NewKey>, Failure> {
    let apikey = instances::rotate_apikey(&caller, &app, id).await?;
    Ok(SecretJson(NewKey { apikey }))
}

pub fn about_rotate_apikey() -> About {
    let apikey = Secret::new("the-new-key-of-the-instance");
    About::new("Replace the key of an instance; the old one stops at once")
        .needs(Right::ChangeInstances)
        .json("The new key", &NewKey { apikey })
}

/// `POST /api/instances/<ID>/account/rotate-password`.
pub async fn rotate_password(Changing(access, app): Changing) -> Result<StatusCode, Failure> {
    users::rotate_password(&access, &app).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_rotate_password() -> About {
    About::new("Give the default user another password, which the instance then tells")
        .needs(Right::ChangeInstances)
        .asks_kafka()
}
