//! For tests alone: directories for real servers, and what not every machine can do. A
//! test that is left out fails, unless the person who runs it has named what is missing.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

/// Names what may be missing, separated by commas: `CASTELLAN_MAY_SKIP=uids,groups`.
const VARIABLE: &str = "CASTELLAN_MAY_SKIP";

/// A temporary directory that users of other uids can pass through, as those of instances
/// have to.
///
/// # Panics
/// If there is none to be had.
pub fn tempdir() -> TempDir {
    let passage = Permissions::from_mode(0o711);
    let made = tempfile::Builder::new().permissions(passage).tempdir();
    made.expect("a temporary directory can be made")
}

/// Leaves a test out, with the reason.
///
/// # Panics
/// If `CASTELLAN_MAY_SKIP` does not name it.
pub fn skip(what: &str, reason: &str) {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    assert!(
        named.split(',').any(|name| name.trim() == what),
        "this machine can't run the test ({reason}); {VARIABLE}={what} leaves it out"
    );
    eprintln!("left out for want of {what}: {reason}");
}

/// Whether this process can start others under another uid. If not, the test is left out.
pub fn has_uids() -> bool {
    let is_root = crate::is_root();
    if !is_root {
        skip("uids", "it takes root to start a process as another user");
    }
    is_root
}

/// Whether every limit can be set here. If not, the test is left out.
pub fn has_groups() -> bool {
    let missing = crate::Groups::find().missing();
    if let Some(missing) = &missing {
        skip("groups", &format!("no control groups can be made for {missing}"));
    }
    missing.is_none()
}
