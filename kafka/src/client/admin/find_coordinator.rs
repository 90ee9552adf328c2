//! Which broker coordinates a group: FindCoordinator.

use super::text;
use crate::client::error::check;
use crate::client::{Broker, Call, Connection, Endpoint, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::FindCoordinatorRequest;

const CALL: &str = "FindCoordinator";
/// Kafka's number for groups among what has coordinators.
const GROUP: i8 = 0;

/// Where the coordinator listens. That there is none just now is an error that
/// passes.
pub struct FindCoordinator<'a> {
    pub group: &'a str,
}

impl Call for FindCoordinator<'_> {
    type Answer = Broker;

    async fn run(&self, connection: &mut Connection) -> Result<Broker, Error> {
        let request = FindCoordinatorRequest::default()
            .with_key_type(GROUP)
            .with_coordinator_keys(vec![text(self.group)]);
        let answer = connection.call(&request).await?;
        let found = answer.coordinators.iter().find(|found| *found.key == *self.group);
        let none = ResponseError::CoordinatorNotAvailable.code();
        let code = found.map_or(none, |found| found.error_code);
        check(CALL, self.group, code, found.and_then(|found| found.error_message.as_ref()))?;
        let broker = found.and_then(|found| {
            let endpoint = Endpoint::new(found.host.as_str(), u16::try_from(found.port).ok()?);
            Some(Broker::new(found.node_id.0, endpoint))
        });
        broker.ok_or_else(|| {
            connection.malformed::<FindCoordinatorRequest>("the coordinator has no port".to_owned())
        })
    }
}
