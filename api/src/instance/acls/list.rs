//! `GET /api/acls`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, acls};
use axum::Json;
use axum::extract::State;
use wire::users::Acl;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<Acl>>, Failure> {
    let views = acls::list(&access, &api.app).await?;
    Ok(Json(views.iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List what users may do")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("By id, without the default user's own rights", example())
}
