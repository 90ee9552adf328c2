//! Files in directories that another user may write to.
//!
//! That user may put anything there at any moment: a link to a file of root's, a
//! pipe that nobody writes to, a file without end. So links are never followed,
//! nothing but a regular file is opened, and no more is read than was asked for.

use rustix::fs::{
    Access, AtFlags, CWD, Dir, Mode, OFlags, chownat, fchmod, fchown, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use std::ffi::{CStr, CString};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};

/// What a record of ours may hold at most.
const RECORD: u64 = 1 << 20;
/// A directory that is no link, to look into.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How often the place of a new log is cleared for it.
const ATTEMPTS: u32 = 5;
/// How often a directory is emptied that somebody fills.
const PASSES: u32 = 100;
/// How deep a directory may be that is given away. Kafka's are three levels deep.
const DEPTH: u32 = 100;

/// Opens a file of a directory for reading. Neither the file nor a directory on
/// the way to it may be a link.
pub fn open_beneath(directory: &Path, file: &Path) -> io::Result<File> {
    let mut parts = file.components().peekable();
    let mut at: Option<OwnedFd> = None;
    let within = OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Err(ErrorKind::InvalidInput.into()) };
        let kind =
            if parts.peek().is_some() { OFlags::PATH | OFlags::DIRECTORY } else { OFlags::RDONLY };
        let opened = match &at {
            Some(parent) => openat(parent, name, kind | within, Mode::empty())?,
            None => openat(CWD, directory.join(name), kind | within, Mode::empty())?,
        };
        at = Some(opened);
    }
    let file = File::from(at.ok_or(ErrorKind::InvalidInput)?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// The contents of a small file of a directory.
pub fn read_beneath(directory: &Path, file: &Path) -> io::Result<Vec<u8>> {
    read(open_beneath(directory, file)?)
}

/// The same for a file that only root or this user can have written.
pub fn read_own(directory: &Path, file: &Path) -> io::Result<Vec<u8>> {
    let file = open_beneath(directory, file)?;
    let found = file.metadata()?;
    let is_ours = found.uid() == 0 || is_own(&found);
    if is_ours { read(file) } else { Err(ErrorKind::PermissionDenied.into()) }
}

fn read(file: File) -> io::Result<Vec<u8>> {
    let mut contents = Vec::new();
    file.take(RECORD + 1).read_to_end(&mut contents)?;
    let is_whole = u64::try_from(contents.len()).is_ok_and(|length| length <= RECORD);
    if is_whole { Ok(contents) } else { Err(ErrorKind::FileTooLarge.into()) }
}

/// Who a file or directory belongs to; a link counts for itself.
pub fn owner(path: &Path) -> io::Result<u32> {
    Ok(fs::symlink_metadata(path)?.uid())
}

/// Whether a file belongs to this user.
pub fn is_own(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// Whether this user may make and remove files in a directory.
pub fn can_write(directory: &Path) -> bool {
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Gives a directory and everything in it to a user, but for these files at its
/// top. The directory itself is last: once it is theirs, all of it is. No link is followed,
/// whatever its present owner does meanwhile.
pub fn give_away(directory: &Path, uid: u32, but: &[&str]) -> io::Result<()> {
    if owner(directory)? == uid {
        return Ok(());
    }
    let top = openat(CWD, directory, DIRECTORY, Mode::empty())?;
    fchown(&top, Some(Uid::ROOT), Some(Gid::ROOT))?;
    fchmod(&top, Mode::RWXU)?;
    for entry in Dir::read_from(&top)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !but.iter().any(|kept| kept.as_bytes() == name) {
            give_entry(&top, entry.file_name(), uid, DEPTH)?;
        }
    }
    give_to(&top, uid)
}

fn give_entry(parent: &OwnedFd, name: &CStr, uid: u32, depth: u32) -> io::Result<()> {
    if matches!(name.to_bytes(), b"." | b"..") {
        return Ok(());
    }
    match openat(parent, name, DIRECTORY, Mode::empty()) {
        Ok(directory) => {
            let depth = depth.checked_sub(1).ok_or(ErrorKind::InvalidFilename)?;
            for entry in Dir::read_from(&directory)? {
                give_entry(&directory, entry?.file_name(), uid, depth)?;
            }
            give_to(&directory, uid)
        }
        Err(Errno::NOTDIR | Errno::LOOP) => {
            let (user, group) = (Uid::from_raw(uid), Gid::from_raw(uid));
            Ok(chownat(parent, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?)
        }
        Err(error) => Err(error.into()),
    }
}

/// The log of a user's process, to be appended to: a file of theirs without
/// another name. Whatever else has its name goes.
pub(crate) fn open_log(path: &Path, uid: u32) -> io::Result<File> {
    let flags = OFlags::CLOEXEC
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::WRONLY
        | OFlags::APPEND;
    let mode = Mode::RUSR | Mode::WUSR;
    for _ in 0..ATTEMPTS {
        match openat(CWD, path, flags, mode).map(File::from) {
            Ok(file) if is_plain(&file, uid)? => return Ok(file),
            Err(Errno::NOENT) => {}
            Ok(_) | Err(_) => remove_tree(path)?,
        }
        match openat(CWD, path, flags | OFlags::CREATE | OFlags::EXCL, mode).map(File::from) {
            Ok(file) => {
                give_to(&file, uid)?;
                return Ok(file);
            }
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(ErrorKind::ResourceBusy.into())
}

/// Gives an open file to a user, who is in a group of the same number.
pub(crate) fn give_to(file: impl AsFd, uid: u32) -> io::Result<()> {
    Ok(fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(uid)))?)
}

fn is_plain(file: &File, uid: u32) -> io::Result<bool> {
    let found = file.metadata()?;
    Ok(found.is_file() && found.uid() == uid && found.nlink() == 1)
}

/// Removes a file, or a directory with everything in it; absent is fine. No link is
/// followed. Stack and open files stay the same however deep the directory is: what is
/// two levels down moves up one, until nothing is.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match unlink(CWD, path)? {
        Unlinked::Gone => return Ok(()),
        Unlinked::IsFull => {}
    }
    let top = take_back(openat(CWD, path, DIRECTORY, Mode::empty())?)?;
    let (mut moved, mut attempts) = (0, 0);
    loop {
        let before = moved;
        if !empty_once(&top, &mut moved)? {
            break;
        }
        // With nothing left to move, only somebody who fills it again makes us come back.
        attempts += u32::from(moved == before);
        if attempts > PASSES {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
    }
    match unlink(CWD, path)? {
        Unlinked::Gone => Ok(()),
        Unlinked::IsFull => Err(ErrorKind::DirectoryNotEmpty.into()),
    }
}

enum Unlinked {
    Gone,
    /// It is a directory with something in it.
    IsFull,
}

/// Removes a file or an empty directory.
fn unlink(parent: impl AsFd, name: impl rustix::path::Arg + Copy) -> io::Result<Unlinked> {
    let refused = match unlinkat(&parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(Unlinked::Gone),
        // Some file systems say the one of a directory, others the other.
        Err(error @ (Errno::ISDIR | Errno::PERM)) => error,
        Err(error) => return Err(error.into()),
    };
    match unlinkat(&parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(Unlinked::Gone),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(Unlinked::IsFull),
        Err(Errno::NOTDIR) => Err(refused.into()),
        Err(error) => Err(error.into()),
    }
}

/// Its owner can put nothing more into a directory that is root's.
fn take_back(directory: OwnedFd) -> io::Result<OwnedFd> {
    if rustix::process::geteuid().is_root() {
        fchown(&directory, Some(Uid::ROOT), Some(Gid::ROOT))?;
        fchmod(&directory, Mode::RWXU)?;
    }
    Ok(directory)
}

/// Removes what is in the directory and in those in it; directories two levels down are
/// moved here, under names that count up. Whether there was anything.
fn empty_once(top: &OwnedFd, moved: &mut u64) -> io::Result<bool> {
    let mut found = false;
    for entry in entries(top)? {
        let name = entry?;
        found = true;
        if matches!(unlink(top, &*name)?, Unlinked::Gone) {
            continue;
        }
        match openat(top, &*name, DIRECTORY, Mode::empty()) {
            Ok(inner) => move_up(&take_back(inner)?, top, moved)?,
            // Somebody has put something else in its place: that is next.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(error) => return Err(error.into()),
        }
        unlink(top, &*name)?;
    }
    Ok(found)
}

/// Empties a directory: files are removed, directories moved to the top.
fn move_up(directory: &OwnedFd, top: &OwnedFd, moved: &mut u64) -> io::Result<()> {
    for entry in entries(directory)? {
        let name = entry?;
        while matches!(unlink(directory, &*name)?, Unlinked::IsFull) {
            *moved += 1;
            match renameat(directory, &*name, top, format!(".{moved}")) {
                Ok(()) | Err(Errno::NOENT) => break,
                // That name is taken: the next one.
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// The names in a directory.
fn entries(directory: &OwnedFd) -> io::Result<impl Iterator<Item = io::Result<CString>> + use<>> {
    let names = Dir::read_from(directory)?.map(|entry| Ok(entry?.file_name().to_owned()));
    Ok(names
        .filter(|name| !name.as_ref().is_ok_and(|name| matches!(name.to_bytes(), b"." | b".."))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use std::os::unix::fs::symlink;

    #[test]
    fn neither_links_nor_pipes_are_read() {
        let place = tempfile::tempdir().unwrap();
        let (secret, home) = (place.path().join("secret"), place.path().join("home"));
        fs::create_dir_all(home.join("logs")).unwrap();
        fs::create_dir_all(place.path().join("elsewhere")).unwrap();
        fs::write(&secret, "s").unwrap();
        fs::write(home.join("logs/log"), "l").unwrap();
        fs::write(place.path().join("elsewhere/log"), "e").unwrap();
        symlink(&secret, home.join("link")).unwrap();
        symlink("../elsewhere", home.join("linked")).unwrap();
        rustix::fs::mkfifoat(CWD, home.join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        File::create(home.join("large")).unwrap().set_len(RECORD + 1).unwrap();
        let read = |file: &str| read_beneath(&home, Path::new(file));
        assert_eq!(read("logs/log").unwrap(), b"l");
        for file in ["link", "linked/log", "pipe", "logs", "large", "../secret", "/etc/passwd", ""]
        {
            read(file).unwrap_err();
        }
        assert_eq!(read("none").unwrap_err().kind(), ErrorKind::NotFound);
    }

    /// Deeper than any stack or table of open files, with a link out of it, names of ours
    /// taken, and directories that are closed.
    #[test]
    fn a_tree_of_any_depth_is_removed_and_no_link_is_followed() {
        // In memory where that can be: on a busy disk it takes minutes to build.
        let memory = tempfile::tempdir_in("/dev/shm");
        let place = memory.or_else(|_| tempfile::tempdir()).unwrap();
        let (kept, top) = (place.path().join("kept"), place.path().join("top"));
        fs::create_dir_all(kept.join("inner")).unwrap();
        fs::write(kept.join("inner/file"), "x").unwrap();
        fs::create_dir(&top).unwrap();
        for name in [".1", ".2", ".3/x"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        fs::write(top.join(".4"), "").unwrap();
        let mut at = openat(CWD, &top, DIRECTORY, Mode::empty()).unwrap();
        for level in 0..20_000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            if level % 1000 == 0 {
                rustix::fs::symlinkat(&kept, &at, "link").unwrap();
                rustix::fs::mkdirat(&at, "empty", Mode::empty()).unwrap();
            }
            at = openat(&at, "d", DIRECTORY, Mode::empty()).unwrap();
        }
        // A thread has a small stack, and removing must not need more.
        let remove = {
            let top = top.clone();
            move || remove_tree(&top)
        };
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(remove).unwrap();
        thread.join().unwrap().unwrap();
        assert!(!top.exists());
        assert_eq!(fs::read_to_string(kept.join("inner/file")).unwrap(), "x");
        remove_tree(&top).unwrap();
        symlink(&kept, &top).unwrap();
        remove_tree(&top).unwrap();
        assert!(!top.is_symlink() && kept.join("inner/file").exists());
    }

    #[test]
    fn what_is_given_away_is_theirs_but_for_what_is_kept() {
        if !testing::has_uids() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let (secret, home) = (place.path().join("secret"), place.path().join("home"));
        fs::create_dir_all(home.join("a/b")).unwrap();
        for file in [&secret, &home.join("record"), &home.join("a/record")] {
            fs::write(file, "x").unwrap();
        }
        symlink(&secret, home.join("a/link")).unwrap();
        give_away(&home, 77, &["record"]).unwrap();
        for (path, expected) in
            [("", 77), ("a", 77), ("a/b", 77), ("a/link", 77), ("a/record", 77), ("record", 0)]
        {
            assert_eq!(owner(&home.join(path)).unwrap(), expected, "{path}");
        }
        assert_eq!(owner(&secret).unwrap(), 0, "a link was followed");
        read_own(&home, Path::new("record")).unwrap();
        read_own(&home, Path::new("a/record")).unwrap_err();
        let deep = place.path().join("deep");
        fs::create_dir_all(deep.join("d/".repeat(200))).unwrap();
        give_away(&deep, 77, &[]).unwrap_err();
        // Once it is theirs, nobody else's files in it are touched.
        give_away(&home, 77, &[]).unwrap();
        assert_eq!(owner(&home.join("record")).unwrap(), 0);
    }
}
