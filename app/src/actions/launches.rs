//! Which starts of a broker its agent knows of, read from the documents that it
//! exchanges with us. Those of an earlier Castellan tell of none.

use crate::documents::Document;
use store::ServerRecord;

/// The start that can't be taken back any more: the one told, or, while the broker
/// runs on without leave to stop, the one it runs for.
pub(super) fn begun(record: &ServerRecord, may_stop: bool) -> i64 {
    let told = Document::told(record).launch;
    let runs_on = |report: &Document| report.phase == "running" && !may_stop;
    let report = Document::reported(record).filter(runs_on);
    report.map_or(told, |report| told.min(report.launch))
}

/// The highest that it was told, or told of itself. After a restore both may be
/// higher than the server's row.
pub(super) fn known(record: &ServerRecord) -> i64 {
    Document::told(record).launch.max(Document::said(record).launch)
}
