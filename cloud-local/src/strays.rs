//! Processes of a tenant that have neither a record nor the mark: code that ran in a broker
//! can start one with an empty environment. They are known by what no process can shed, its
//! control group and its uid, and end with their server.

use crate::layout::Layout;
use crate::{LocalError, limits, uids};
use host::ProcessId;
use model::{InstanceId, ServerId};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Of the system's own users. A record that names one is broken.
const SYSTEM: u32 = 999;
/// How long killed processes may take to be gone.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(10);

/// What is in the server's group, and all that its instance's user runs if no other server of
/// that user is here.
pub(crate) fn of_server(
    layout: &Layout,
    id: ServerId,
    instance: Option<InstanceId>,
) -> Vec<ProcessId> {
    let mut found = limits::load(layout, id).map_or_else(Vec::new, |group| group.processes());
    let uid = instance.and_then(|instance| uid(layout, instance));
    let last = uid.filter(|uid| is_last(layout, id, *uid));
    found.extend(last.into_iter().flat_map(host::of_user));
    without_us(found)
}

/// Kills what is left on a host all of whose servers are stopped. One that does not end
/// within a while is left to itself.
pub(crate) async fn end_all(layout: &Layout) -> Result<(), LocalError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = all(layout)?;
        if left.is_empty() || Instant::now() > deadline {
            return Ok(());
        }
        for process in left {
            process.kill();
        }
        sleep(GLANCE).await;
    }
}

fn all(layout: &Layout) -> Result<Vec<ProcessId>, LocalError> {
    let groups = layout.groups()?.into_iter().filter_map(|(id, _)| limits::load(layout, id));
    let mut found: Vec<ProcessId> = groups.flat_map(|group| group.processes()).collect();
    for (instance, _) in layout.recorded_uids()? {
        found.extend(uid(layout, instance).into_iter().flat_map(host::of_user));
    }
    Ok(without_us(found))
}

/// The uid that we gave the instance.
fn uid(layout: &Layout, instance: InstanceId) -> Option<u32> {
    let known = uids::known(layout, instance).ok()??;
    (known > SYSTEM && Some(known) != ProcessId::own().uid()).then_some(known)
}

/// A directory tells whose it is by its owner, whatever that user has written into it.
fn is_last(layout: &Layout, id: ServerId, uid: u32) -> bool {
    let others = layout.servers().map(|all| all.into_iter().filter(|(other, _)| *other != id));
    others.is_ok_and(|mut others| !others.any(|(_, path)| host::owner(&path).ok() == Some(uid)))
}

fn without_us(mut found: Vec<ProcessId>) -> Vec<ProcessId> {
    let own = ProcessId::own();
    found.retain(|process| *process != own);
    found
}
