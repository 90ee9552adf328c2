//! Which starts of a broker its agent knows of, read from the documents that it
//! exchanges with us.

use crate::Result;
use kafka::render::RENDER_VERSION;
use model::ServerId;
use store::{ServerRecord, Work, servers};

/// Has a broker started anew, and with what this version renders.
pub(super) async fn raise(work: &mut Work, record: &ServerRecord) -> Result<()> {
    render_anew(work, record.server.id).await?;
    let Some(wanted) = record.server.wanted.restart(known(record)) else { return Ok(()) };
    Ok(servers::set_wanted(work, record.server.id, wanted).await?)
}

/// Has a broker that is about to start do so with what this version renders.
pub(super) async fn render_anew(work: &mut Work, id: ServerId) -> Result<()> {
    Ok(servers::forget_older_rendering(work, id, RENDER_VERSION.into()).await?)
}

/// The start that can't be taken back any more: the desired one, or, while the broker
/// runs on without leave to stop, the one it runs for.
pub(super) fn begun(record: &ServerRecord, may_stop: bool) -> i64 {
    let desired = record.desired_launch();
    let report = record.current_report().filter(|report| report.is_up() && !may_stop);
    report.map_or(desired, |report| desired.min(report.launch))
}

/// The highest that was desired of it, or that it reported. After a restore both may be
/// higher than the server's row.
pub(super) fn known(record: &ServerRecord) -> i64 {
    let reported = record.parse_report().map_or(0, |report| report.launch);
    record.desired_launch().max(reported)
}
