//! Disks that are nearly full: people are notified at once, whatever alarms they have
//! set, and producers are slowed down before the last of the room is gone.
//!
//! A level changes in one transaction with the notifications of it and with a
//! wake-up of the engine, which slows producers down or lets them go.

use super::disk_incident::Full;
use crate::{Context, Result};
use model::{
    DiskGuard, DiskLevel, Instance, SAMPLE_SECONDS, Series, Server, ServerId, SignedDuration,
    Timestamp,
};
use series::Sample;
use std::collections::HashMap;
use store::{Work, audit, disk_guards, instances, servers};

/// A sample that is older is of the past: agents send what a control plane that was
/// away has missed.
const LATE: i64 = 6 * SAMPLE_SECONDS;

/// Most disks have room, and a sample of each comes every few seconds: so long it is not
/// looked up again that one has no level. If another control plane gave it one meanwhile,
/// that ends so much later.
const ROOMY: SignedDuration = SignedDuration::from_secs(6 * SAMPLE_SECONDS);

/// Disks without a level, and when by [`model::Clock::elapsed`] that was looked up.
#[derive(Default)]
pub(super) struct Roomy(HashMap<ServerId, SignedDuration>);

impl Roomy {
    fn is_known(&self, server: ServerId, now: SignedDuration) -> bool {
        self.0.get(&server).is_some_and(|at| now - *at < ROOMY)
    }

    fn note(&mut self, server: ServerId, is_roomy: bool, now: SignedDuration) {
        if is_roomy {
            self.0.insert(server, now);
        } else {
            self.0.remove(&server);
        }
    }

    /// What was not heard of since then is gone.
    pub fn forget(&mut self, since: SignedDuration) {
        self.0.retain(|_, at| *at > since);
    }
}

/// Looks at how full a server's disk is by a sample of it.
pub(super) async fn look(
    context: &Context,
    roomy: &mut Roomy,
    server: &Server,
    sample: &Sample,
) -> Result<()> {
    let Some(percent) = sample.value(Series::DiskFull).map(f64::from) else { return Ok(()) };
    let Ok(at) = Timestamp::from_second(sample.at) else { return Ok(()) };
    let now = context.elapsed();
    let has_room = DiskLevel::after(None, percent).is_none();
    let is_late = context.now().as_second() - sample.at > LATE;
    if is_late || has_room && roomy.is_known(server.id, now) {
        return Ok(());
    }
    let mut reader = context.store().reader();
    let known = disk_guards::find(&mut reader, server.id).await?;
    roomy.note(server.id, has_room && known.is_none(), now);
    let was = known.as_ref().map(|guard| guard.level);
    let is = DiskLevel::after(was, percent);
    if known.is_some_and(|known| at <= known.since) {
        return Ok(());
    }
    let full = Full { server, at, percent, was, is };
    if is == was && (is.is_none() || !full.is_due(&mut reader).await?) {
        return Ok(());
    }
    let mut work = context.store().begin().await?;
    let there = instances::find(&mut work, server.instance_id).await?;
    let Some(instance) = there.filter(|it| it.deleted_at.is_none() && !it.stopped) else {
        return Ok(());
    };
    if servers::find_bare(&mut work, server.id).await?.is_none_or(|it| it.wanted.is_stopped()) {
        return Ok(());
    }
    // Somebody else may have been quicker.
    if disk_guards::find(&mut work, server.id).await?.map(|guard| guard.level) != was {
        return Ok(());
    }
    if is != was {
        change(&mut work, context, &instance, &full).await?;
    }
    full.enqueue(&mut work, context, &instance).await?;
    Ok(work.commit().await?)
}

/// Writes the level that a disk has from now on.
async fn change(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    full: &Full<'_>,
) -> Result<()> {
    let Full { server, at, percent, was, is } = *full;
    let now = context.now();
    match is {
        None => disk_guards::remove(work, server.id).await?,
        Some(level) => {
            let guard =
                DiskGuard { instance_id: instance.id, server_id: server.id, level, since: at };
            disk_guards::set(work, &guard).await?;
        }
    }
    if [was, is].contains(&Some(DiskLevel::Slowed)) {
        instances::wake(work, instance.id, now).await?;
    }
    let level = is.map_or_else(|| "none".to_owned(), |level| level.to_string());
    let about = [
        ("id", instance.id.to_string()),
        ("server", server.name.clone()),
        ("level", level),
        ("percent", percent.floor().to_string()),
    ];
    Ok(audit::insert_system(work, instance.account_id, now, "disk_guard.update", &about).await?)
}
