//! How far behind consumer groups are: asked of the cluster, not of agents.
//!
//! It is sampled by the control plane that the first server's agent talks to, and
//! kept with that server's windows, so of several control planes one asks. The ends of
//! partitions that lag is reckoned by are the instance's: the next server goes on where the
//! first one went silent.

pub(super) mod lag;

use self::lag::{Ends, Lag, Lags};
use super::hub::{Held, News};
use crate::{Context, Result};
use futures::stream::{self, StreamExt as _};
use kafka::client::Cluster;
use kafka::client::groups::Group;
use model::{AlarmType, GroupSeries, InstanceId, Plan, Series, Server, ServerId, SignedDuration};
use series::{STEP, Sample, align, narrow};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::{alarms, incidents, instances, servers};
use tokio::time::timeout;

/// Groups that a sample names.
const MOST_GROUPS: usize = 200;
/// Clusters that are asked at the same time.
const AT_ONCE: usize = 8;
/// One that takes longer is asked the next time.
const PATIENCE: Duration = Duration::from_secs(10);
/// A server that was not heard of for so long is another control plane's.
const HEARD: i64 = 60;
/// Groups of open incidents that are missing, and looked for one by one.
const MOST_MISSING: usize = 20;

/// Asks every cluster once. Run twice a minute; a cluster that does not answer
/// leaves a gap.
pub async fn sample_groups(context: &Context) {
    let due = first_servers(context);
    stream::iter(due)
        .for_each_concurrent(AT_ONCE, |(instance, server)| async move {
            let sampled = timeout(PATIENCE, sample(context, instance, server)).await;
            if let Ok(Err(error)) = sampled {
                tracing::debug!(%error, %instance, "its consumer groups can't be looked at");
            }
        })
        .await;
}

/// Of every instance that this process hears of, its first server.
fn first_servers(context: &Context) -> BTreeMap<InstanceId, ServerId> {
    let now = context.now().as_second();
    let is_heard =
        |held: &Held| held.latest.server.as_ref().is_some_and(|latest| now - latest.at <= HEARD);
    let mut first = BTreeMap::new();
    for (server, held) in &*context.metrics().servers() {
        if let Some(instance) = held.instance.filter(|_| is_heard(held)) {
            let known = first.entry(instance).or_insert(*server);
            *known = (*known).min(*server);
        }
    }
    first
}

async fn sample(context: &Context, id: InstanceId, server: ServerId) -> Result<()> {
    let mut reader = context.store().reader();
    let Some(instance) = instances::find(&mut reader, id).await? else { return Ok(()) };
    // Groups of a shared plan belong to many customers.
    let is_shared = context.catalogue.plan(&instance.plan.0).is_some_and(Plan::shared);
    if instance.stopped || !instance.ready() || is_shared {
        return Ok(());
    }
    let servers = servers::list_bare(&mut reader, id).await?;
    if is_anothers(context, &servers, server) {
        return Ok(());
    }
    let cluster = context.reach().cluster(id, &servers).await?;
    let groups = context.reach().admin().groups().glimpse_groups(&cluster).await;
    let groups = groups.map_err(reach::Error::from)?;
    let gone = gone(context, id, &cluster, &groups).await?;
    let metrics = context.metrics();
    let groups = {
        let at = context.elapsed().as_secs();
        let mut known = metrics.ends();
        let ends = known.entry(id).or_default();
        ends.note(&groups, at);
        lags(ends, &groups, at)
    };
    let now = context.now().as_second();
    let lags = Lags { groups, gone };
    if metrics.take(server, &Arc::new(group_sample(&lags, now)), now) {
        metrics.publish(News::Groups(id, Arc::new(lags)));
    }
    Ok(())
}

/// Whether an earlier server is heard of, but not here.
fn is_anothers(context: &Context, servers: &[Server], first: ServerId) -> bool {
    let since = context.now() - SignedDuration::from_secs(HEARD);
    servers.iter().any(|it| it.id < first && it.last_seen.is_some_and(|at| at > since))
}

/// Of the groups with an open incident, those that are deleted. One that is only
/// missing may be with a broker that does not answer, so each is asked for by name.
async fn gone(
    context: &Context,
    id: InstanceId,
    cluster: &Cluster,
    there: &[Group],
) -> Result<Vec<String>> {
    let mut reader = context.store().reader();
    let mut missing = incidents::open(&mut reader, id).await?;
    missing.retain(|it| !there.iter().any(|group| group.view.name == it.about));
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let watched = alarms::list(&mut reader, id).await?;
    let of_groups =
        |alarm| watched.iter().any(|it| it.id == alarm && it.what.kind == AlarmType::ConsumerLag);
    missing.retain(|it| of_groups(it.alarm_id));
    let mut gone = Vec::new();
    for incident in missing.into_iter().take(MOST_MISSING) {
        let groups = context.reach().admin().groups();
        if let Ok(None) = groups.describe_group(cluster, &incident.about).await {
            gone.push(incident.about);
        }
    }
    Ok(gone)
}

/// Those that are the furthest behind come first.
fn lags(ends: &Ends, groups: &[Group], now: i64) -> Vec<(Arc<str>, Lag)> {
    let lag = |group: &Group| Some((group.view.name.as_str().into(), ends.lag(group, now)?));
    let mut lags: Vec<(Arc<str>, Lag)> = groups.iter().filter_map(lag).collect();
    lags.sort_by_key(|(_, lag)| std::cmp::Reverse(lag.messages));
    lags
}

/// The first of them by name, and how many more there are.
fn group_sample(lags: &Lags, now: i64) -> Sample {
    let left_out = lags.groups.len().saturating_sub(MOST_GROUPS);
    let left_out = u32::try_from(left_out).unwrap_or(u32::MAX);
    let values = BTreeMap::from([(Series::GroupsLeftOut, narrow(left_out.into()))]);
    let groups = lags.groups.iter().take(MOST_GROUPS).map(|(name, lag)| {
        let values = BTreeMap::from([
            (GroupSeries::Lag, whole(lag.messages)),
            (GroupSeries::LagSeconds, whole(lag.seconds)),
        ]);
        (Arc::clone(name), values)
    });
    Sample { at: align(now, STEP), values, groups: groups.collect(), ..<_>::default() }
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts single messages of billions")]
fn whole(number: i64) -> f32 {
    number as f32
}
