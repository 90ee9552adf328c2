//! One directory of the cache: taken by one process at a time, put in place
//! whole, and checked by the sums of its jars at each use.

use super::ArtifactError;
use super::sums::Sums;
use crate::Progress;
use host::DirLock;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Starts the name of a directory that is not whole yet.
pub const STAGING: &str = ".new-";

/// Takes a directory of the cache for this process.
pub async fn lock(
    directory: &Path,
    progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<DirLock, ArtifactError> {
    if let Ok(lock) = DirLock::try_take(directory) {
        return Ok(lock);
    }
    progress(Progress::Waiting);
    DirLock::take_async(directory.to_owned()).await.map_err(|error| match error {
        host::LockError::Io { path, source } => ArtifactError::io(&path, source),
        host::LockError::Held { path, .. } => {
            ArtifactError::io(&path, std::io::ErrorKind::ResourceBusy.into())
        }
    })
}

/// Removes what a killed process left. Only the holder of the lock may.
pub fn remove_leftovers(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(STAGING) {
            // One that stays costs room and nothing else.
            let path = entry.path();
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Checks what was fetched and makes it the cache's, for everybody to read.
pub fn place(sums: &Sums, staging: &Path, home: &Path) -> Result<(), ArtifactError> {
    let io = |error| ArtifactError::io(home, error);
    let libs = staging.join("libs");
    for jar in sums.names() {
        sums.check(&libs, jar)?;
        let file = File::open(libs.join(jar)).map_err(io)?;
        file.set_permissions(Permissions::from_mode(0o644)).map_err(io)?;
        file.sync_all().map_err(io)?;
    }
    for directory in [&libs, staging] {
        fs::set_permissions(directory, Permissions::from_mode(0o755)).map_err(io)?;
        host::sync_dir(directory).map_err(io)?;
    }
    // One that is there lacks a jar or has a wrong one, or it would have been taken.
    if home.exists() {
        fs::remove_dir_all(home).map_err(io)?;
    }
    fs::rename(staging, home).map_err(io)
}

/// The jars of a directory that was put in place. Reads all of them, so it blocks.
pub fn checked(sums: &Sums, home: &Path) -> Option<Vec<PathBuf>> {
    let libs = home.join("libs");
    if !libs.exists() {
        return None;
    }
    match sums.names().try_for_each(|jar| sums.check(&libs, jar)) {
        Ok(()) => Some(sums.names().map(|jar| libs.join(jar)).collect()),
        Err(error) => {
            tracing::warn!(%error, cache = %libs.display(), "the cache is not what it was");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jar_that_was_changed_is_found_at_its_next_use() {
        let directory = tempfile::tempdir().unwrap();
        let (staging, home) = (directory.path().join("staging"), directory.path().join("4.3.1"));
        let jar = home.join("libs/a.jar");
        let sums = Sums::of_one(
            "a.jar",
            "04efaf080f5a3e74e1c29d1ca6a48569382cbbcd324e8d59d2b83ef21c039f00",
        );
        assert_eq!(checked(&sums, &home), None);
        let fetched = |text: &str| {
            fs::create_dir_all(staging.join("libs")).unwrap();
            fs::write(staging.join("libs/a.jar"), text).unwrap();
            super::place(&sums, &staging, &home)
        };
        fetched("evil").unwrap_err();
        assert!(!home.exists());
        fetched("four").unwrap();
        assert_eq!(checked(&sums, &home), Some(vec![jar.clone()]));

        // Of the same size and time.
        let modified = fs::metadata(&jar).unwrap().modified().unwrap();
        fs::write(&jar, "evil").unwrap();
        File::options().write(true).open(&jar).unwrap().set_modified(modified).unwrap();
        assert_eq!(checked(&sums, &home), None);
        fetched("four").unwrap();
        assert_eq!(checked(&sums, &home), Some(vec![jar.clone()]), "it is replaced");
        fs::remove_file(&jar).unwrap();
        assert_eq!(checked(&sums, &home), None);
    }
}
