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

/// Makes the directories above a path that are missing, with this mode whatever the user's
/// umask is.
pub fn create_parents(path: &Path, mode: u32) -> io::Result<()> {
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let missing: Vec<&Path> = above.take_while(|above| !above.exists()).collect();
    for directory in missing.into_iter().rev() {
        match fs::create_dir(directory) {
            Ok(()) => fs::set_permissions(directory, Permissions::from_mode(mode))?,
            // Another process was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
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

    #[test]
    fn a_directory_of_a_temporary_name_is_in_nobodys_way() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("start.json");
        let next = NUMBER.load(Ordering::Relaxed);
        for number in next..next + 100 {
            let name = format!(".start.json.{}-{number}.new", std::process::id());
            fs::create_dir_all(directory.path().join(name).join("inner")).unwrap();
        }
        write_private(&path, b"one").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }

    /// The test runs itself once more under a umask, which is the whole process's.
    #[tokio::test]
    async fn missing_parents_have_their_mode_under_any_umask() {
        const INNER: &str = "HOST_TEST_PARENTS";
        if let Some(place) = std::env::var_os(INNER) {
            return create_parents(&Path::new(&place).join("a/b/c"), 0o711).unwrap();
        }
        let place = tempfile::tempdir().unwrap();
        let name = "file::tests::missing_parents_have_their_mode_under_any_umask";
        let script = format!(
            "umask 077; {INNER}={} exec {} --exact {name}",
            place.path().display(),
            std::env::current_exe().unwrap().display()
        );
        crate::run_output(Path::new("/bin/sh"), &["-c", &script], None).await.unwrap();
        for made in ["a", "a/b"] {
            let mode = fs::metadata(place.path().join(made)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o711, "{made}");
        }
        assert!(!place.path().join("a/b/c").exists());
    }
}
