//! `/api/team`.

use crate::about::{About, Counts, Input};
use crate::answer::Answer;
use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::path::Member;
use app::Right;
use app::team::{self, NewInvitation, Removed, RoleChanges};
use axum::Json;
use model::{InstanceId, Role};
use wire::customer::Message;
use wire::team::{InstanceToRotate, Invite, RemoveMember, RemovedMember, TeamMember, UpdateMember};

pub(super) fn roles() -> Vec<&'static str> {
    Role::ALL.iter().map(|role| role.as_str()).collect()
}

/// `GET /api/team`.
pub async fn list(CustomerKey(caller, app): CustomerKey) -> Answer<Vec<TeamMember>> {
    let users = team::list(&caller, &app).await?;
    Ok(Json(users.into_iter().map(member).collect()))
}

fn member(user: model::User) -> TeamMember {
    TeamMember {
        id: user.id.to_string(),
        email: user.email,
        tfa_auth_enabled: user.tfa_enabled,
        roles: vec![user.role.to_string()],
        name: user.name,
        tags: user.tags.into(),
    }
}

pub fn about_list() -> About {
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

/// `POST /api/team/invite`.
pub async fn invite(CustomerKey(caller, app): CustomerKey, body: Body) -> Answer<Message> {
    let email = team::invite(&caller, &app, body.ask(new_invitation)).await?;
    Ok(Json(sent(email.as_str())))
}

fn new_invitation(fields: &mut Fields) -> NewInvitation {
    NewInvitation {
        email: fields.text("email"),
        role: fields.text("role"),
        tags: fields.comma_list("tags"),
    }
}

fn sent(email: &str) -> Message {
    Message { message: format!("Invitation sent to {email}") }
}

pub fn about_invite() -> About {
    let asked = Invite {
        email: "grace@example.com".into(),
        role: Some("member".into()),
        tags: Some("prod,eu".into()),
    };
    About::new("Invite somebody to the team")
        .needs(Right::ManageTeam)
        .body(&INVITE_FIELDS, &asked)
        .json("A link was sent that works once, for 7 days", &sent(&asked.email))
}

const INVITE_FIELDS: [Input; 3] = [
    Input::email("email", "Whom to invite; inviting again replaces the link").required(),
    Input::text("role", "member if not given").one_of(roles),
    Input::comma_list("tags", "Comma-separated, for member and monitor: the instances they see"),
];

/// `POST /api/team/remove`.
pub async fn remove(CustomerKey(caller, app): CustomerKey, body: Body) -> Answer<RemovedMember> {
    let asked = body.ask(|fields| fields.text("email"));
    Ok(Json(removed(team::remove(&caller, &app, asked).await?)))
}

fn removed(Removed { email, to_rotate }: Removed) -> RemovedMember {
    let message = format!("{email} was deleted from the team");
    let to_rotate = to_rotate.into_iter().map(|(id, name)| InstanceToRotate { id: id.0, name });
    RemovedMember { message, instances_to_rotate: to_rotate.collect() }
}

pub fn about_remove() -> About {
    let asked = RemoveMember { email: "ada@example.com".into() };
    let to_rotate = vec![(InstanceId(4711), "orders".to_owned())];
    let example = removed(Removed { email: asked.email.clone(), to_rotate });
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

const UPDATED: &str = "Role and tags were updated";

/// `PUT /api/team/<user-id>`.
pub async fn update(
    CustomerKey(caller, app): CustomerKey,
    Member(id): Member,
    body: Body,
) -> Answer<Message> {
    team::update(&caller, &app, id, body.ask(changes)).await?;
    Ok(Json(Message { message: UPDATED.into() }))
}

fn changes(fields: &mut Fields) -> RoleChanges {
    RoleChanges { role: fields.text("role"), tags: fields.comma_list("tags") }
}

pub fn about_update() -> About {
    let asked = UpdateMember { role: Some("monitor".into()), tags: Some("prod,eu".into()) };
    About::new("Change the role and tags of a member")
        .needs(Right::ManageTeam)
        .body(&UPDATE_FIELDS, &asked)
        .at_least_one(&[("role", Counts::Given), ("tags", Counts::EvenEmpty)])
        .json("It counts from their next request on", &Message { message: UPDATED.into() })
}

const UPDATE_FIELDS: [Input; 2] = [
    Input::text("role", "What they may do").one_of(roles),
    Input::comma_list("tags", "Comma-separated, for member and monitor; an empty text clears them"),
];
