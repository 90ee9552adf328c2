//! `/api/groups`.

pub mod delete;
pub mod list;
pub mod read;
pub mod reset;

use app::groups::{self, GroupOffset};
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
