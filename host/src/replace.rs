//! Going on as another program image under the same pid.
//!
//! Children stay, locks and open files do not: everything we open is closed by
//! the change.

use crate::confine;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// Becomes `program`. Returns only if that is not possible.
pub fn replace_self(program: &Path, arguments: &[&str]) -> io::Error {
    command(program, arguments).exec()
}

/// Becomes `program` as that user, with what [`crate::Spawn::start_as`] gives one. Of our
/// variables these are kept. Returns only if that is not possible; what was given up by
/// then is gone, so the process has to end.
pub fn replace_self_as(uid: u32, program: &Path, arguments: &[&str], keep: &[&str]) -> io::Error {
    if let Err(error) = confine::give_up() {
        return error;
    }
    let kept = keep.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = command(program, arguments);
    command.env_clear().envs(confine::environment()).envs(kept).uid(uid).gid(uid).exec()
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the one home of spawning")]
    let mut command = Command::new(program);
    command.args(arguments);
    command
}
