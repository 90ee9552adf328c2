//! `/api/groups`.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields};
use crate::path::Named;
use app::Right;
use app::groups::{self, GroupOffset, Moved, Reset};
use axum::Json;
use axum::http::StatusCode;
use web::error::Failure;
use wire::groups::{Assignment, Group, Member, Offset};

fn document(group: &groups::Group) -> Group {
    Group {
        name: group.view.name.clone(),
        state: group.view.state.clone(),
        protocol_type: group.view.protocol_type.clone(),
        members: group.view.members.iter().map(member).collect(),
        topics: group.topics(),
        lag: group.lag(),
        offsets: group.offsets.iter().map(offset).collect(),
    }
}

fn member(member: &groups::Member) -> Member {
    let assignment = |it: &groups::Assignment| Assignment {
        topic: it.topic.clone(),
        partitions: it.partitions.iter().map(|number| i64::from(*number)).collect(),
    };
    Member {
        id: member.id.clone(),
        client_id: member.client_id.clone(),
        host: member.host.clone(),
        assignments: member.assignments.iter().map(assignment).collect(),
    }
}

fn offset(offset: &GroupOffset) -> Offset {
    Offset {
        topic: offset.at.topic.clone(),
        partition: offset.at.partition.into(),
        offset: offset.offset,
        end: offset.end,
        lag: offset.lag(),
    }
}

fn example() -> Group {
    Group {
        name: "billing".into(),
        state: "Stable".into(),
        protocol_type: "consumer".into(),
        members: vec![Member {
            id: "reports-1-6c1f9a5e-0f0b-4ad5-8a4e-0e1d2c3b4a59".into(),
            client_id: "reports-1".into(),
            host: "192.0.2.7".into(),
            assignments: vec![Assignment { topic: "orders".into(), partitions: vec![0] }],
        }],
        topics: vec!["orders".into()],
        lag: Some(12),
        offsets: vec![Offset {
            topic: "orders".into(),
            partition: 0,
            offset: Some(30),
            end: Some(42),
            lag: Some(12),
        }],
    }
}

/// `GET /api/groups`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<Group>> {
    let groups = groups::list(&access, &app).await?;
    Ok(Json(groups.iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List consumer groups, their members and their lag by partition")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("Groups, by name", example())
}

/// `GET /api/groups/<name>`.
pub async fn read(Seeing(access, app): Seeing, Named(name): Named) -> Answer<Group> {
    let group = groups::read(&access, &app, &name).await?;
    Ok(Json(document(&group)))
}

pub fn about_read() -> About {
    About::new("Read a consumer group, its members and its lag by partition")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .or_not_found()
        .json("The group", &example())
}

// `POST /api/groups/<name>/reset`.
pub async fn reset(
    Changing(access, app): Changing,
    Named(name): Named,
    body: Body,
) -> Answer<Vec<wire::groups::Moved>> {
    let moved = groups::reset(&access, &app, &name, body.ask(asked)).await?;
    Ok(Json(moved.iter().map(row).collect()))
}

fn asked(fields: &mut Fields) -> Reset {
    Reset {
        strategy: fields.text("strategy"),
        datetime: fields.text("datetime"),
        shift_by: fields.integer("shift_by"),
        topics: fields.list("topics"),
        dry_run: fields.flag("dry_run"),
    }
}

fn row(moved: &Moved) -> wire::groups::Moved {
    wire::groups::Moved {
        topic: moved.at.topic.clone(),
        partition: moved.at.partition.into(),
        offset: moved.from,
        new_offset: moved.to,
    }
}

pub fn about_reset() -> About {
    let asked = wire::groups::Reset {
        strategy: "to-earliest".into(),
        topics: Some(vec!["orders".into()]),
        dry_run: Some(false),
        ..wire::groups::Reset::default()
    };
    let moved = wire::groups::Moved {
        topic: "orders".into(),
        partition: 0,
        offset: Some(30),
        new_offset: 0,
    };
    About::new("Have a consumer group without members go on from elsewhere")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .body(&FIELDS, &asked)
        .when("strategy", &["to-datetime"], &[AT])
        .when("strategy", &["shift-by"], &[BY])
        .list("Where it goes on, or would, by topic and partition", moved)
}

const AT: Input = Input::text("datetime", "A time").such_as("2026-11-15T12:00:00Z").required();
const BY: Input = Input::integer("shift_by", "So many messages").required();

const FIELDS: [Input; 5] = [
    Input::text("strategy", "Where it goes on")
        .required()
        .one_of(|| vec!["to-earliest", "to-latest", "to-datetime", "shift-by"]),
    Input::text("datetime", "Of to-datetime: a time such as 2026-11-15T12:00:00Z"),
    Input::integer("shift_by", "Of shift-by: so many messages further, or back if negative"),
    Input::list("topics", "Topics, as orders, or partitions, as orders:0; all it has committed"),
    Input::flag("dry_run", "Tell what would be, and change nothing"),
];

/// `DELETE /api/groups/<name>`.
pub async fn delete(
    Changing(access, app): Changing,
    Named(name): Named,
) -> Result<StatusCode, Failure> {
    groups::delete(&access, &app, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_delete() -> About {
    About::new("Delete a consumer group that has no members, and what it has committed")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
}
