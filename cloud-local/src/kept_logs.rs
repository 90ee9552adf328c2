//! The logs of a server that is not there: set aside when its directory goes, put
//! back when it is made again, removed with its disk.
//!
//! They are for people, who want to read them while a cluster is stopped, and for the systems
//! that they are sent to: what is on its way there goes on when the server is back. Nothing
//! fails because of them.

use crate::LocalError;
use crate::layout::{Layout, remove};
use crate::servers::Record;
use model::DiskId;
use std::fs;
use std::path::Path;

/// What agent and broker write for people, in a server's directory, and the agent's record of
/// what it has sent of that.
const LOGS: [&str; 4] = ["logs", "agent.log", "agent.log.1", "logs-spool"];

/// Before the directory of a server goes.
pub(crate) fn set_aside(layout: &Layout, directory: &Path) {
    let Some(record) = Record::load(directory) else { return };
    if let Err(error) = replace(directory, &layout.logs(record.disk_id)) {
        tracing::warn!(server = %record.server_id, %error, "logs could not be set aside");
    }
}

/// After the directory of a server was made.
pub(crate) fn put_back(layout: &Layout, disk: DiskId, directory: &Path) {
    let aside = layout.logs(disk);
    for name in LOGS {
        let (from, to) = (aside.join(name), directory.join(name));
        if from.exists() && !to.exists() {
            let _ = fs::rename(from, to);
        }
    }
    // What could not be put back stays until the next time.
    let _ = fs::remove_dir(aside);
}

/// Done in part, it goes on with the rest: what was moved is there no more.
fn replace(directory: &Path, aside: &Path) -> Result<(), LocalError> {
    host::create_private_dir(aside).map_err(LocalError::at(aside))?;
    for name in LOGS {
        let (from, to) = (directory.join(name), aside.join(name));
        if from.exists() {
            remove(&to)?;
            fs::rename(&from, &to).map_err(LocalError::at(&from))?;
        }
    }
    Ok(())
}
