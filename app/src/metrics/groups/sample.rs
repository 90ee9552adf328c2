//! A look at the groups of every cluster whose servers are heard of here.

use crate::access::{on_servers_of_its_own, ready};
use crate::metrics::hub::Held;
use crate::{App, Result};
use futures::stream::{self, StreamExt as _};
use kafka::client::groups::Group;
use model::{GroupSeries, InstanceId, Series, ServerId};
use series::{STEP, Sample, align, narrow};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::{instances, servers};
use tokio::time::timeout;

/// Groups that are told by name.
const MOST_GROUPS: usize = 200;
/// Clusters that are asked at the same time.
const AT_ONCE: usize = 8;
/// One that takes longer is asked the next time.
const PATIENCE: Duration = Duration::from_secs(10);
/// A server that was not heard of for so long is another control plane's.
const HEARD: i64 = 60;

/// Asks every cluster once. Run twice a minute; a cluster that does not answer
/// leaves a gap.
pub async fn sample_groups(app: &App) {
    let due = first_servers(app);
    stream::iter(due)
        .for_each_concurrent(AT_ONCE, |(instance, server)| async move {
            let sampled = timeout(PATIENCE, sample(app, instance, server)).await;
            if let Ok(Err(error)) = sampled {
                tracing::debug!(%error, %instance, "its consumer groups can't be looked at");
            }
        })
        .await;
}

/// Of every instance that this process hears of, its first server.
fn first_servers(app: &App) -> BTreeMap<InstanceId, ServerId> {
    let now = app.now().as_second();
    let is_heard =
        |held: &Held| held.latest.as_ref().is_some_and(|latest| now - latest.at <= HEARD);
    let mut first = BTreeMap::new();
    for (server, held) in &*app.metrics().servers() {
        if let Some(instance) = held.instance.filter(|_| is_heard(held)) {
            let known = first.entry(instance).or_insert(*server);
            *known = (*known).min(*server);
        }
    }
    first
}

async fn sample(app: &App, id: InstanceId, server: ServerId) -> Result<()> {
    let mut reader = app.store().reader();
    let Some(instance) = instances::find(&mut reader, id).await? else { return Ok(()) };
    if ready(&instance).is_err() || on_servers_of_its_own(app, &instance).is_err() {
        return Ok(());
    }
    let servers = servers::list_bare(&mut reader, id).await?;
    let cluster = app.reach().cluster(id, &servers).await.map_err(crate::Error::internal)?;
    let groups = app.reach().admin().groups().list_groups(&cluster).await;
    let mut groups = groups.map_err(crate::Error::internal)?;
    groups.retain(|group| !group.view.name.starts_with("__"));
    let now = app.now().as_second();
    let metrics = app.metrics();
    let mut known = metrics.servers();
    let held = known.entry(server).or_default();
    held.ends.note(&groups, now);
    let sample = Arc::new(told(held, &groups, now));
    let is_new = held.take(&sample);
    drop(known);
    if is_new {
        metrics.tell(server, &sample);
    }
    Ok(())
}

/// Those that are the furthest behind, and how many more there are.
fn told(held: &Held, groups: &[Group], now: i64) -> Sample {
    let lag = |group: &Group| {
        Some((Arc::<str>::from(group.view.name.as_str()), held.ends.lag(group, now)?))
    };
    let mut lags: Vec<_> = groups.iter().filter_map(lag).collect();
    lags.sort_by_key(|(_, lag)| std::cmp::Reverse(lag.messages));
    let left_out = u32::try_from(lags.len().saturating_sub(MOST_GROUPS)).unwrap_or(u32::MAX);
    lags.truncate(MOST_GROUPS);
    let values = BTreeMap::from([(Series::GroupsLeftOut, narrow(left_out.into()))]);
    let groups = lags.into_iter().map(|(name, lag)| {
        let values = BTreeMap::from([
            (GroupSeries::Lag, whole(lag.messages)),
            (GroupSeries::LagSeconds, whole(lag.seconds)),
        ]);
        (name, values)
    });
    Sample { at: align(now, STEP), values, groups: groups.collect(), ..<_>::default() }
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts single messages of billions")]
fn whole(number: i64) -> f32 {
    number as f32
}
