//! Files that are there whole or not at all, also after a crash.

use crate::foreign::{give_to, remove_tree};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Two threads of a process that write the same file do so side by side.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Replaces `path` in one step, readable by everyone the directory lets in.
pub fn write_atomic(path: &Path, contents: &[u8]) -> io::Result<()> {
    write(path, contents, 0o644, None)
}

/// The same for secrets: mode 0600.
pub fn write_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    write(path, contents, 0o600, None)
}

/// The same for a user's own directory: the file is theirs, and private. Whatever
/// they have put into its way goes.
pub fn write_private_for(path: &Path, contents: &[u8], uid: Option<u32>) -> io::Result<()> {
    write(path, contents, 0o600, uid)
}

/// Makes the directory and its parents with mode 0700; keeps one that is there.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write(path: &Path, contents: &[u8], mode: u32, uid: Option<u32>) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!(".{name}.{}-{number}.new", std::process::id()));
    let mut file = create_new(&temporary, mode)?;
    // The mode above is less what the user's umask takes away.
    file.set_permissions(Permissions::from_mode(mode))?;
    if let Some(uid) = uid {
        give_to(&file, uid)?;
    }
    let written = file
        .write_all(contents)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    // The rename itself is durable only once the directory is.
    sync_dir(directory)
}

/// A file that was not there: others may write to the directory, and a link of that
/// name must not be followed. What a crash left there, or somebody put there, goes.
fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove_tree(path)?;
            create()
        }
        other => other,
    }
}

/// Makes creations, renames and removals in a directory survive a crash.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_is_private_and_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
