//! Which starts of a broker its agent knows of, read from the documents that it
//! exchanges with us. Those of an earlier Castellan tell of none.

use crate::Result;
use crate::documents::Document;
use kafka::render::RENDER_VERSION;
use model::ServerId;
use store::{ServerRecord, Work, servers};

/// Has a broker started anew, and with what this version renders.
pub(super) async fn raise(work: &mut Work, record: &ServerRecord) -> Result<()> {
    render_anew(work, record.server.id).await?;
    Ok(servers::raise_launch(work, record.server.id, known(record)).await?)
}

/// Has a broker that is about to start do so with what this version renders.
pub(super) async fn render_anew(work: &mut Work, id: ServerId) -> Result<()> {
    Ok(servers::forget_older_rendering(work, id, RENDER_VERSION.into()).await?)
}

/// The start that can't be taken back any more: the one told, or, while the broker
/// runs on without leave to stop, the one it runs for.
pub(super) fn begun(record: &ServerRecord, may_stop: bool) -> i64 {
    let desired = Document::told(record).launch;
    let runs_on = |report: &Document| report.phase == "running" && !may_stop;
    let report = Document::reported(record).filter(runs_on);
    report.map_or(desired, |report| desired.min(report.launch))
}

/// The highest that it was told, or told of itself. After a restore both may be
/// higher than the server's row.
pub(super) fn known(record: &ServerRecord) -> i64 {
    Document::told(record).launch.max(Document::said(record).launch)
}
