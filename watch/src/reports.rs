//! The agents' documents, as far as alarms read them. One that can't be read counts as absent.

use store::ServerRecord;
use wire::agent::{Desired, Phase, Report};

/// What the agent last reported; none if it has not since its server got its incarnation.
pub fn current(record: &ServerRecord) -> Option<Report> {
    last(record).filter(|report| report.incarnation == record.server.incarnation)
}

/// What an agent of the server last reported, in whichever incarnation.
pub fn last(record: &ServerRecord) -> Option<Report> {
    serde_json::from_str(record.report.as_deref()?).ok()
}

/// Whether the agent has been sent this launch, and has not reported a broker that runs
/// with it.
pub fn is_launching(record: &ServerRecord) -> bool {
    let launch = record.server.launch;
    let desired = record.desired.as_deref().and_then(|it| serde_json::from_str(it).ok());
    let is_sent = desired.map_or(0, |it: Desired| it.launch) >= launch;
    let runs = |it: Report| it.phase == Phase::Running && it.launch >= launch;
    is_sent && !current(record).is_some_and(runs)
}
