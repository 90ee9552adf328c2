//! The last sample of every server, and every new one as it comes.

use super::hub::News;
use super::take::AHEAD;
use crate::{App, InstanceAccess, Result};
use model::{Series, Server, ServerId, Timestamp};
use series::Sample;
use std::sync::Arc;
use store::{ServerRecord, servers};
use tokio::sync::broadcast::Receiver;

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
    /// The last that tells of topics.
    pub topics: Option<Arc<Sample>>,
    /// The last that tells of groups, of the first server alone.
    pub groups: Option<Arc<Sample>>,
}

/// The last sample that this process took of a server, however old it is.
pub fn latest(app: &App, server: ServerId) -> Option<Arc<Sample>> {
    app.metrics().servers().get(&server)?.latest.clone()
}

/// The same, and when its agent last sent any: the clocks of agents may be wrong.
pub fn last_heard(app: &App, server: ServerId) -> Option<(Arc<Sample>, Timestamp)> {
    let servers = app.metrics().servers();
    let held = servers.get(&server)?;
    Some((held.latest.clone()?, held.heard_at?))
}

/// Every sample taken from now on, each once, the late ones too, and every look at
/// groups. A receiver that lags behind is told so.
pub fn subscribe(app: &App) -> Receiver<News> {
    app.metrics().subscribe()
}

/// All servers of an instance, by number.
pub async fn latest_of(access: &InstanceAccess, app: &App) -> Result<Vec<Latest>> {
    let servers = servers::list(&mut app.store().reader(), access.instance.id).await?;
    let now = app.now().as_second();
    let fresh = |sample: &Option<Arc<Sample>>, within: i64| {
        sample.clone().filter(|sample| (-AHEAD..=within).contains(&(now - sample.at)))
    };
    let known = app.metrics().servers();
    let look = |record: ServerRecord| {
        let is_silent = record.current_report().is_some_and(|it| it.silent_since.is_some());
        let server = record.server;
        let held = known.get(&server.id);
        let sample = held.and_then(|held| fresh(&held.latest, STALE));
        let answers = |it: &Arc<Sample>| it.value(Series::Partitions).is_some() && !is_silent;
        let measured = sample.as_ref().filter(|_| server.listeners.metrics.is_some());
        Latest {
            broker_up: measured.map(answers),
            sample,
            topics: held.and_then(|held| fresh(&held.topics, STALE + 60)),
            groups: held.and_then(|held| fresh(&held.groups, STALE + 60)),
            server,
        }
    };
    Ok(servers.into_iter().map(look).collect())
}
