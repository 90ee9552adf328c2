//! `GET /api/team`.

use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, team};
use axum::Json;
use axum::extract::State;
use wire::team::TeamMember;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
) -> Result<Json<Vec<TeamMember>>, Failure> {
    let users = team::list(&caller, &api.app).await?;
    Ok(Json(users.into_iter().map(document).collect()))
}

fn document(user: model::User) -> TeamMember {
    TeamMember {
        id: user.id.to_string(),
        email: user.email,
        tfa_auth_enabled: user.tfa_enabled,
        roles: vec![user.role.to_string()],
        name: user.name,
        tags: user.tags.into(),
    }
}

pub fn about() -> About {
    let example = TeamMember {
        id: "5b7f6c1e-52b1-4f3e-9d3a-0c4bb1d0a9c2".into(),
        email: "ada@example.com".into(),
        tfa_auth_enabled: false,
        roles: vec!["member".into()],
        name: "Ada Lovelace".into(),
        tags: vec!["prod".into()],
    };
    About::new("List the members of the team")
        .needs(Right::ManageTeam)
        .list("Members by e-mail; pending invitations are not among them", example)
}
