//! The brokers of a cluster: DescribeCluster.

use super::quorum::DescribeQuorum;
use crate::client::error::check;
use crate::client::{Call, Connection, Endpoint, Error, Remedy};
use kafka_protocol::messages::DescribeClusterRequest;

/// A cluster as one of its brokers sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClusterView {
    pub cluster_id: String,
    /// The active controller. None if the quorum has none or does not answer.
    pub controller_id: Option<i32>,
    /// By id.
    pub brokers: Vec<BrokerView>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokerView {
    pub id: i32,
    /// On the listener that was asked.
    pub endpoint: Endpoint,
    pub rack: Option<String>,
    /// Registered, but not serving. Releases before 4.0 leave these out.
    pub fenced: bool,
}

pub struct DescribeCluster;

/// The first version that tells of fenced brokers.
const TELLS_FENCED: i16 = 2;

impl Call for DescribeCluster {
    type Answer = ClusterView;

    async fn run(&self, connection: &mut Connection) -> Result<ClusterView, Error> {
        let version = connection.version_of::<DescribeClusterRequest>()?;
        let request =
            DescribeClusterRequest::default().with_include_fenced_brokers(version >= TELLS_FENCED);
        let answer = connection.call(&request).await?;
        check("DescribeCluster", "the cluster", answer.error_code, answer.error_message.as_ref())?;
        let mut brokers = Vec::with_capacity(answer.brokers.len());
        for broker in &answer.brokers {
            let port = u16::try_from(broker.port).map_err(|_| {
                let reason = format!("broker {} has port {}", broker.broker_id.0, broker.port);
                connection.malformed::<DescribeClusterRequest>(reason)
            })?;
            brokers.push(BrokerView {
                id: broker.broker_id.0,
                endpoint: Endpoint::new(broker.host.as_str(), port),
                rack: broker.rack.as_ref().map(ToString::to_string),
                fenced: broker.is_fenced,
            });
        }
        brokers.sort_by_key(|broker| broker.id);
        let controller_id = active_controller(connection).await?;
        Ok(ClusterView { cluster_id: answer.cluster_id.to_string(), controller_id, brokers })
    }
}

/// Asked of the quorum, because a KRaft broker puts any live broker where
/// DescribeCluster and Metadata have room for a controller.
async fn active_controller(connection: &mut Connection) -> Result<Option<i32>, Error> {
    match DescribeQuorum.run(connection).await {
        Ok(quorum) => Ok(quorum.leader),
        // A cluster without a quorum is worth seeing, too.
        Err(error) if error.remedy() == Remedy::Retry => Ok(None),
        Err(error) => Err(error),
    }
}
