//! Forgetting a group and its offsets: DeleteGroups, asked of the coordinator.

use super::{group_id, text};
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::DeleteGroupsRequest;

const CALL: &str = "DeleteGroups";

/// Whether it was there. One that has members is refused.
pub struct DeleteGroup<'a> {
    pub group: &'a str,
}

impl Call for DeleteGroup<'_> {
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let groups = vec![group_id(self.group)];
        let answer =
            connection.call(&DeleteGroupsRequest::default().with_groups_names(groups)).await?;
        let result = answer.results.iter().find(|result| *result.group_id.0 == *self.group);
        let result = result.ok_or_else(|| {
            let reason = format!("it does not mention {}", self.group);
            connection.malformed::<DeleteGroupsRequest>(reason)
        })?;
        if result.error_code == ResponseError::GroupIdNotFound.code() {
            return Ok(false);
        }
        // Kafka has a code here and no words.
        let members = result.error_code == ResponseError::NonEmptyGroup.code();
        let why = members.then(|| text("it has members; stop them first"));
        check(CALL, self.group, result.error_code, why.as_ref())?;
        Ok(true)
    }
}
