//! How far a server is with what was asked of it, read from the documents that
//! its agent exchanges with us. The engine decides by the same words.

use crate::documents::Document;
use store::ServerRecord;

/// Whether its broker runs since it was last asked to be started anew.
pub(super) fn runs(record: &ServerRecord) -> bool {
    Document::reported(record)
        .is_some_and(|it| it.phase == "running" && it.launch >= record.server.launch)
}

/// Whether its broker has stopped as it was last told. A report that was late may
/// be about an earlier stop.
pub(super) fn has_stopped(record: &ServerRecord) -> bool {
    let told = Document::told(record);
    let is_of_it = |it: Document| it.phase == "stopped" && it.revision == told.revision;
    told.run == "stopped" && Document::reported(record).is_some_and(is_of_it)
}

/// Whether its broker runs and does not answer its own agent.
pub(super) fn is_unresponsive(record: &ServerRecord) -> bool {
    let report = Document::reported(record);
    report.is_some_and(|it| it.phase == "running" && it.silent_since.is_some())
}
