//! The row of an action, and the audit line of who asked for it.

use crate::audit::{self, Asker};
use crate::{App, InstanceAccess, Result};
use model::{Action, ActionId, ActionKind, Condition, Instance, Reason, Server};
use store::{NewAction, Work, actions, instances, servers};

/// What is asked.
pub(super) struct Asking<'a> {
    pub kind: ActionKind,
    /// Of the audit log.
    pub event: &'a str,
    /// None: all of them.
    pub servers: &'a [&'a Server],
    /// The intent that was raised for it, in this transaction.
    pub generation: i64,
    /// Open ones that end with this: what [`replaced_by`](super::open::replaced_by) has
    /// found in this transaction.
    pub replaced: Vec<Action>,
}

/// `about` is what the line tells beside; the servers, if it is nothing else.
pub(super) async fn record(
    work: &mut Work,
    access: &InstanceAccess,
    app: &App,
    instance: &Instance,
    asking: Asking<'_>,
    about: Option<(&str, String)>,
) -> Result<ActionId> {
    let asker = access.asker(work).await?;
    let numbers: Vec<u32> = asking.servers.iter().map(|server| server.number).collect();
    let action = NewAction {
        instance_id: instance.id,
        kind: asking.kind,
        servers: &numbers,
        asked_by: &asker.email,
        source: asker.source.to_string(),
        generation: asking.generation,
    };
    let id = actions::insert(work, &action, app.now()).await?;
    for open in &asking.replaced {
        actions::supersede(work, open.id, id, app.now()).await?;
    }
    let rows = servers::list_bare(work, instance.id).await?;
    let conditions = promise(asking.kind, &numbers, &rows);
    if !conditions.is_empty() {
        instances::set_conditions(work, instance.id, conditions, app.now()).await?;
    }
    let names: Vec<&str> = asking.servers.iter().map(|server| server.name.as_str()).collect();
    let servers = (!names.is_empty()).then(|| ("servers", names.join(",")));
    write_line(work, &asker, app, instance, asking.event, about.or(servers)).await?;
    Ok(id)
}

/// What is told from the answer on: the engine's own first look may take a while, and what
/// it saw before may be what has just been seen to. Nothing where the engine needs no look
/// to say so.
fn promise(kind: ActionKind, numbers: &[u32], rows: &[Server]) -> Vec<Condition> {
    let will = match kind {
        ActionKind::ClusterRestart
        | ActionKind::Configure
        | ActionKind::Restart
        | ActionKind::ChangePlan => Reason::ToRestart,
        ActionKind::Stop => Reason::ToStop,
        ActionKind::Start => Reason::ToStart,
        ActionKind::Resize | ActionKind::Rebalance => return vec![Reason::Created.into()],
        ActionKind::Create
        | ActionKind::ClusterStop
        | ActionKind::ClusterStart
        | ActionKind::ResizeDisk => return vec![],
    };
    let is_meant = |server: &&Server| {
        let is_named = numbers.is_empty() || numbers.contains(&server.number);
        is_named && server.wanted.is_stopped() == (kind == ActionKind::Stop)
    };
    rows.iter().filter(is_meant).map(|server| will.clone().of(server.number)).collect()
}

/// The line alone.
pub(super) async fn write_line(
    work: &mut Work,
    asker: &Asker,
    app: &App,
    instance: &Instance,
    event: &str,
    about: Option<(&str, String)>,
) -> Result<()> {
    let mut extras = vec![("id", instance.id.to_string()), ("name", instance.name.to_string())];
    extras.extend(about);
    audit::write(work, asker, app.now(), event, &extras).await
}
