//! `POST /api/team/remove`.

use crate::auth::CustomerKey;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::team::{self, Removed};
use axum::Json;
use axum::extract::State;
use model::InstanceId;
use wire::team::{InstanceToRotate, RemoveMember, RemovedMember};

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    body: Body,
) -> Result<Json<RemovedMember>, Failure> {
    let asked = body.ask(|fields| fields.text("email"));
    Ok(Json(document(team::remove(&caller, &api.app, asked).await?)))
}

fn document(Removed { email, to_rotate }: Removed) -> RemovedMember {
    let message = format!("{email} was deleted from the team");
    let to_rotate = to_rotate.into_iter().map(|(id, name)| InstanceToRotate { id: id.0, name });
    RemovedMember { message, instances_to_rotate: to_rotate.collect() }
}

pub fn about() -> About {
    let asked = RemoveMember { email: "ada@example.com".into() };
    let to_rotate = vec![(InstanceId(4711), "orders".to_owned())];
    let example = document(Removed { email: asked.email.clone(), to_rotate });
    About::new("Remove somebody from the team")
        .needs(Right::ManageTeam)
        .body(&[Input::text("email", "A member, or somebody who was invited").required()], &asked)
        .or_not_found()
        .json(
            "They are out, and their keys stop at once. They could read the keys and passwords of \
             the instances that are listed, which should be rotated",
            &example,
        )
}
