//! How far a server is with what was asked of it, read from the documents that
//! its agent exchanges with us. The engine decides by the same words.

use store::ServerRecord;

/// Whether its broker runs since it was last asked to be started anew.
pub(super) fn runs(record: &ServerRecord) -> bool {
    record.current_report().is_some_and(|report| report.is_up_since(record.server.launch))
}

/// Whether its broker has stopped as it was last told. A report that was late may
/// be about an earlier stop.
pub(super) fn has_stopped(record: &ServerRecord) -> bool {
    let documents = record.current_report().zip(record.last_desired());
    documents.is_some_and(|(report, desired)| report.has_stopped_by(&desired))
}

/// Whether its broker runs and does not answer its own agent.
pub(super) fn is_unresponsive(record: &ServerRecord) -> bool {
    record.current_report().is_some_and(|report| report.is_up() && report.silent_since.is_some())
}
