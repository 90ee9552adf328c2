//! A broker that is to be forgotten: UnregisterBroker.

use super::cluster::DescribeCluster;
use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, ClusterView, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::{BrokerId, UnregisterBrokerRequest};

pub struct Unregister {
    pub broker: i32,
}

impl Call for Unregister {
    /// False if it was not registered.
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let request = UnregisterBrokerRequest::default().with_broker_id(BrokerId(self.broker));
        let answer = connection.call(&request).await?;
        if answer.error_code == ResponseError::BrokerIdNotRegistered.code() {
            return Ok(false);
        }
        let what = format!("broker {}", self.broker);
        check("UnregisterBroker", &what, answer.error_code, answer.error_message.as_ref())?;
        let is_gone = |view: ClusterView| view.brokers.iter().all(|it| it.id != self.broker);
        until_readable(connection, &format!("that {what} is gone"), &DescribeCluster, is_gone)
            .await?;
        Ok(true)
    }
}
