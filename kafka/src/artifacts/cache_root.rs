//! Whether nobody else can put files into the cache: brokers run what lies there.
//!
//! Jars are checked by their sums at each use that finds them changed. But between a check and the start of
//! a JVM only the directory's own permissions keep others out.

use super::ArtifactError;
use std::env;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Where root's cache is: brokers that run under other uids have to reach it.
const SYSTEM: &str = "/var/cache/castellan";
const OTHERS_WRITE: u32 = 0o002;
const NOT_OURS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// The cache directory if nobody names one.
pub fn default_cache_root() -> PathBuf {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    match named {
        Some(named) => named.join("castellan"),
        None if host::is_root() => SYSTEM.into(),
        // Without a home there is no place that is safe to guess; this one says so.
        None => home().unwrap_or_else(env::temp_dir).join("castellan"),
    }
}

/// Makes a directory of the cache. One of ours is closed to others' writing, and root's
/// is open to everybody's reading.
pub fn make(directory: &Path) -> io::Result<()> {
    if host::is_root() {
        host::create_parents(directory, 0o755)?;
    }
    DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
    let found = fs::metadata(directory)?;
    let mode = found.mode() & 0o777;
    let wanted = if host::is_root() { 0o755 } else { mode & !NOT_OURS_WRITE };
    if host::is_own(&found) && mode != wanted {
        fs::set_permissions(directory, Permissions::from_mode(wanted))?;
    }
    Ok(())
}

/// Lets everybody read what an earlier release has put into root's cache under a umask
/// that closed it. None may be a link.
pub fn open_to_readers(paths: impl IntoIterator<Item = PathBuf>) -> io::Result<()> {
    if !host::is_root() {
        return Ok(());
    }
    for path in paths {
        let found = fs::symlink_metadata(&path)?;
        let wanted = if found.is_dir() { 0o755 } else { 0o644 };
        let is_closed = found.mode() & wanted != wanted;
        if is_closed && host::is_own(&found) && !found.is_symlink() {
            fs::set_permissions(&path, Permissions::from_mode(wanted))?;
        }
    }
    Ok(())
}

/// Fails if somebody else could replace what is in a directory.
pub fn check(directory: &Path) -> Result<(), ArtifactError> {
    let found = directory.canonicalize().and_then(|path| look(&path));
    match found.map_err(|error| ArtifactError::io(directory, error))? {
        None => Ok(()),
        Some(reason) => Err(ArtifactError::Unsafe { path: directory.to_owned(), reason }),
    }
}

/// Why not, if so.
fn look(directory: &Path) -> io::Result<Option<String>> {
    let own = fs::metadata(directory)?;
    if !host::is_own(&own) && own.uid() != 0 {
        return Ok(Some(format!("it belongs to another user (uid {})", own.uid())));
    }
    for (above, path) in directory.ancestors().enumerate() {
        let mode = fs::metadata(path)?.mode();
        // Of a directory with the sticky bit nobody can take away what is another's; but
        // anybody can make the cache before us.
        let is_closed = match above {
            0 => mode & NOT_OURS_WRITE == 0,
            1 => mode & OTHERS_WRITE == 0,
            _ => mode & OTHERS_WRITE == 0 || mode & STICKY != 0,
        };
        if !is_closed {
            return Ok(Some(format!("others may write to {}", path.display())));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_others_can_write_to_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let cache = place.path().join("cache");
        make(&cache).unwrap();
        check(&cache).unwrap();
        let refused = |path: &Path, mode: u32, expected: &Path| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            let error = check(&cache).unwrap_err().to_string();
            let expected = format!("others may write to {}", expected.display());
            assert!(error.contains(&expected) && error.contains("/var/cache/castellan"), "{error}");
        };
        refused(&cache, 0o775, &cache);
        refused(&cache, 0o757, &cache);
        make(&cache).unwrap();
        check(&cache).unwrap();
        refused(place.path(), 0o1777, place.path());
        refused(place.path(), 0o777, place.path());
        fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
        check(&cache).unwrap();
        // Where this one lies itself, others can write, but not take it away.
        check(&env::temp_dir()).unwrap_err();
    }

    #[test]
    fn a_cache_of_another_user_is_refused() {
        if !host::testing::has_uids() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(place.path(), Some(77), Some(77)).unwrap();
        let error = check(place.path()).unwrap_err().to_string();
        assert!(error.contains("another user (uid 77)"), "{error}");
    }
}
