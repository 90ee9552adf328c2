//! Which files of the cache had the right sums when they were last read as a whole.
//!
//! To read all jars and a start-up cache takes longer than all else that comes before a
//! JVM. So a note beside them says which files were right: by inode, size, and the times of
//! the last changes of contents and of inode, the second of which no user can set. If anything
//! of that differs, or the note is a day old, the files are read again: disks go bad. A
//! process that may not write to the cache goes by the note and leaves none.

use model::{Clock as _, SignedDuration, SystemClock, Timestamp};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const GOOD_FOR: SignedDuration = SignedDuration::from_hours(24);
/// A file that was changed later than this may change again within the same tick of the
/// clock that its time is taken from.
const SETTLED: SignedDuration = SignedDuration::from_secs(2);
const OTHERS_WRITE: u32 = 0o022;

/// Runs the check unless the note says that these files have passed it.
pub(crate) fn unless_noted<E>(
    note: &Path,
    files: &[PathBuf],
    check: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    at(SystemClock.now(), note, files, check)
}

fn at<E>(
    now: Timestamp,
    note: &Path,
    files: &[PathBuf],
    check: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    // Taken before the check: what changes while it reads differs from the note.
    let facts = Facts::of(files);
    if facts.as_ref().is_some_and(|facts| is_noted(now, note, facts)) {
        return Ok(());
    }
    check()?;
    if let Some(facts) = facts.filter(|facts| facts.changed + SETTLED < now) {
        keep(now, note, &facts);
    }
    Ok(())
}

struct Facts {
    /// A line for each file.
    text: String,
    /// The last change of any of them.
    changed: Timestamp,
}

impl Facts {
    /// None if one of them can't be opened, which is the check's to tell.
    fn of(files: &[PathBuf]) -> Option<Self> {
        let mut facts = Self { text: String::new(), changed: Timestamp::UNIX_EPOCH };
        for file in files {
            let found = File::open(file).and_then(|opened| opened.metadata()).ok()?;
            let (name, dev, ino, size) =
                (file.file_name()?.to_string_lossy(), found.dev(), found.ino(), found.size());
            let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
            writeln!(facts.text, "{name} {dev} {ino} {size} {times:?}").ok()?;
            let changed = Timestamp::from_second(found.ctime().max(found.mtime())).ok()?;
            facts.changed = facts.changed.max(changed);
        }
        Some(facts)
    }
}

/// Whether the note is of our own or root's hand, of the last day, and of these very files.
fn is_noted(now: Timestamp, note: &Path, facts: &Facts) -> bool {
    let Ok(found) = fs::symlink_metadata(note) else { return false };
    let is_trusted = found.is_file()
        && (found.uid() == 0 || host::is_own(&found))
        && found.mode() & OTHERS_WRITE == 0;
    let text = fs::read_to_string(note).unwrap_or_default();
    let Some((at, noted)) = text.split_once('\n') else { return false };
    let age = at.parse().ok().and_then(|at| Timestamp::from_second(at).ok());
    let is_fresh = age.is_some_and(|at| {
        // One of tomorrow was written while the clock was ahead.
        (SignedDuration::ZERO..GOOD_FOR).contains(&now.duration_since(at))
    });
    is_trusted && is_fresh && noted == facts.text
}

/// Without it the next start takes longer, and nothing else.
fn keep(now: Timestamp, note: &Path, facts: &Facts) {
    let directory = note.parent().unwrap_or(Path::new("."));
    if !host::can_write(directory) {
        return;
    }
    let text = format!("{}\n{}", now.as_second(), facts.text);
    if let Err(error) = host::write_atomic(note, text.as_bytes()) {
        tracing::debug!(%error, note = %note.display(), "what was checked can't be noted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files {
        directory: tempfile::TempDir,
    }

    impl Files {
        fn paths(&self) -> Vec<PathBuf> {
            ["a.jar", "b.jar"].map(|name| self.directory.path().join(name)).to_vec()
        }

        /// Whether they were read, `hours` from now.
        fn are_read(&self, hours: i64) -> bool {
            let mut is_read = false;
            let note = self.directory.path().join("checked");
            let now = SystemClock.now() + SignedDuration::from_hours(hours);
            let checked = at(now, &note, &self.paths(), || {
                is_read = true;
                Ok::<(), ()>(())
            });
            assert_eq!(checked, Ok(()));
            is_read
        }
    }

    fn files() -> Files {
        let files = Files { directory: tempfile::tempdir().unwrap() };
        for path in files.paths() {
            fs::write(path, "four").unwrap();
        }
        files
    }

    #[test]
    fn what_was_right_is_read_again_after_a_change_and_after_a_day() {
        let files = files();
        assert!(files.are_read(0));
        assert!(files.are_read(0), "they have just been written, and may be again");
        assert!(files.are_read(1), "settled by now, and noted");
        assert!(!files.are_read(2));
        assert!(!files.are_read(24));
        assert!(files.are_read(25), "a day is over");
        assert!(files.are_read(1), "the clock was set back behind the note");
        assert!(!files.are_read(2));

        // Of the same size and time.
        let [jar, _] = &files.paths()[..] else { unreachable!() };
        let modified = fs::metadata(jar).unwrap().modified().unwrap();
        let changed =
            || (fs::metadata(jar).unwrap().ctime(), fs::metadata(jar).unwrap().ctime_nsec());
        let before = changed();
        // The clock of files ticks some hundred times a second.
        while changed() == before {
            fs::write(jar, "evil").unwrap();
            File::options().write(true).open(jar).unwrap().set_modified(modified).unwrap();
        }
        assert!(files.are_read(2));
        assert!(!files.are_read(3));
        fs::remove_file(jar).unwrap();
        assert!(files.are_read(3), "it is the check's to tell");
    }

    #[test]
    fn a_failed_check_is_not_noted_and_a_note_that_others_can_write_is_not_believed() {
        let files = files();
        let note = files.directory.path().join("checked");
        let later = SystemClock.now() + SignedDuration::from_hours(1);
        assert_eq!(at(later, &note, &files.paths(), || Err(7)), Err(7));
        assert!(!note.exists());
        assert!(files.are_read(1));
        assert!(!files.are_read(1));
        fs::set_permissions(&note, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        assert!(files.are_read(1));
        assert!(!files.are_read(1), "it was written anew");
    }
}
