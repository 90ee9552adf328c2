//! Going on as another program image under the same pid.
//!
//! Children stay, locks and open files do not: everything we open is closed by
//! the change.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

/// Becomes `program`. Returns only if that is not possible.
pub fn replace_self(program: &Path, arguments: &[&str]) -> io::Error {
    #[expect(clippy::disallowed_methods, reason = "this is the one home of spawning")]
    std::process::Command::new(program).args(arguments).exec()
}
