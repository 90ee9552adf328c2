//! The groups that one broker coordinates: ListGroups.

use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::messages::ListGroupsRequest;

/// By which of Kafka's protocols a group's members share the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupKind {
    /// Its members do the assigning: JoinGroup and SyncGroup.
    Classic,
    /// Its coordinator does: ConsumerGroupHeartbeat.
    Consumer,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedGroup {
    pub name: String,
    pub kind: GroupKind,
}

/// Groups of other kinds, such as share groups, have no offsets of the kind we
/// tell of, and are left out.
pub struct ListGroups;

impl Call for ListGroups {
    type Answer = Vec<ListedGroup>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<ListedGroup>, Error> {
        let answer = connection.call(&ListGroupsRequest::default()).await?;
        check("ListGroups", "all groups", answer.error_code, None)?;
        let group = |group: &kafka_protocol::messages::list_groups_response::ListedGroup| {
            let kind = kind(&group.group_type)?;
            Some(ListedGroup { name: group.group_id.0.to_string(), kind })
        };
        Ok(answer.groups.iter().filter_map(group).collect())
    }
}

/// Releases that don't tell have classic groups alone.
fn kind(name: &str) -> Option<GroupKind> {
    match name.to_ascii_lowercase().as_str() {
        "" | "classic" => Some(GroupKind::Classic),
        "consumer" => Some(GroupKind::Consumer),
        _ => None,
    }
}
