//! The latest samples of an instance's servers.

use crate::{App, InstanceAccess, Result};
use model::{Series, Server};
use series::Sample;
use std::sync::Arc;
use store::{ServerRecord, servers};
use watch::metrics::{self, AHEAD, LatestSamples};

/// A sample that is older says nothing of now.
const STALE: i64 = 60;

/// What is known of one server now.
#[derive(Clone, PartialEq, Debug)]
pub struct Latest {
    pub server: Server,
    /// None if nothing came lately.
    pub sample: Option<Arc<Sample>>,
    /// Whether its broker answers its agent. None if nothing came lately, or the agent
    /// does not measure the broker.
    pub broker_up: Option<bool>,
    /// The last with topics.
    pub topics: Option<Arc<Sample>>,
    /// The last of the cluster's groups; with the first server alone.
    pub groups: Option<Arc<Sample>>,
}

/// All servers of an instance, by number.
pub async fn latest(access: &InstanceAccess, app: &App) -> Result<Vec<Latest>> {
    let servers = servers::list(&mut app.store().reader(), access.instance.id).await?;
    let now = app.now().as_second();
    let fresh = |sample: Option<Arc<Sample>>, within: i64| {
        sample.filter(|sample| (-AHEAD..=within).contains(&(now - sample.at)))
    };
    let look = |record: ServerRecord| {
        let is_silent = record.current_report().is_some_and(|it| it.silent_since.is_some());
        let known = metrics::latest(app.watch(), record.server.id);
        let LatestSamples { server: sample, topics, groups } = known;
        let sample = fresh(sample, STALE);
        let answers = |it: &Arc<Sample>| it.value(Series::Partitions).is_some() && !is_silent;
        let measured = sample.as_ref().filter(|_| record.server.listeners.metrics.is_some());
        Latest {
            broker_up: measured.map(answers),
            sample,
            topics: fresh(topics, STALE + 60),
            groups: fresh(groups, STALE + 60),
            server: record.server,
        }
    };
    Ok(servers.into_iter().map(look).collect())
}
