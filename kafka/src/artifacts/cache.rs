//! One directory of the cache: taken by one process at a time, put in place
//! whole, and checked by the sums of its jars at each use, unless a note there says that they
//! were right and are what they were.

use super::ArtifactError;
use super::cache_root::open_to_readers;
use super::checked::unless_noted;
use super::sums::Sums;
use crate::Progress;
use host::DirLock;
use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
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

/// The jars of a directory that was put in place, which everybody may read if it is root's.
/// May read all of them, so it blocks. Fails if this user may not read them.
pub fn checked(sums: &Sums, home: &Path) -> Result<Option<Vec<PathBuf>>, ArtifactError> {
    let libs = home.join("libs");
    match fs::metadata(&libs) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(ArtifactError::read(&libs, error));
        }
        Err(_) => return Ok(None),
        Ok(_) => {}
    }
    let jars: Vec<PathBuf> = sums.names().map(|jar| libs.join(jar)).collect();
    let check = || sums.names().try_for_each(|jar| sums.check(&libs, jar));
    match unless_noted(&home.join("checked"), &jars, check) {
        Ok(()) => {}
        Err(error @ ArtifactError::Closed(_)) => return Err(error),
        Err(error) => {
            tracing::warn!(%error, cache = %libs.display(), "the cache is not what it was");
            return Ok(None);
        }
    }
    let parts = [home.to_owned(), libs].into_iter().chain(jars.iter().cloned());
    open_to_readers(parts).map_err(|error| ArtifactError::io(home, error))?;
    Ok(Some(jars))
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
        assert_eq!(checked(&sums, &home).unwrap(), None);
        let fetched = |text: &str| {
            fs::create_dir_all(staging.join("libs")).unwrap();
            fs::write(staging.join("libs/a.jar"), text).unwrap();
            super::place(&sums, &staging, &home)
        };
        fetched("evil").unwrap_err();
        assert!(!home.exists());
        fetched("four").unwrap();
        assert_eq!(checked(&sums, &home).unwrap(), Some(vec![jar.clone()]));

        // Of the same size and time.
        let modified = fs::metadata(&jar).unwrap().modified().unwrap();
        fs::write(&jar, "evil").unwrap();
        File::options().write(true).open(&jar).unwrap().set_modified(modified).unwrap();
        assert_eq!(checked(&sums, &home).unwrap(), None);
        fetched("four").unwrap();
        assert_eq!(checked(&sums, &home).unwrap(), Some(vec![jar.clone()]), "it is replaced");
        fs::remove_file(&jar).unwrap();
        assert_eq!(checked(&sums, &home).unwrap(), None);
    }

    /// What an earlier release fetched under a umask of 077.
    #[tokio::test]
    async fn a_cache_that_is_closed_is_opened_by_root_and_told_of_by_others() {
        const INNER: &str = "CASTELLAN_TEST_CLOSED_CACHE";
        let sums = Sums::of_one(
            "a.jar",
            "04efaf080f5a3e74e1c29d1ca6a48569382cbbcd324e8d59d2b83ef21c039f00",
        );
        if let Some(home) = std::env::var_os(INNER) {
            let said = match checked(&sums, Path::new(&home)) {
                Ok(jars) => format!("found {}", jars.is_some()),
                Err(error) => error.to_string(),
            };
            return println!("{said}");
        }
        if !host::testing::has_uids() {
            return;
        }
        let place = host::testing::tempdir();
        let (home, theirs) = (place.path().join("4.3.1"), place.path().join("theirs"));
        let (libs, jar) = (home.join("libs"), home.join("libs/a.jar"));
        fs::create_dir_all(&libs).unwrap();
        fs::write(&jar, "four").unwrap();
        let closed = [(&home, 0o700), (&libs, 0o700), (&jar, 0o600)];
        for (path, mode) in closed {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        // The test runs itself once more, as another user.
        let program = place.path().join("test");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(77), Some(77)).unwrap();
        let look = async || {
            let name = "a_cache_that_is_closed_is_opened_by_root_and_told_of_by_others";
            let output = theirs.join(format!("said-{}", fs::read_dir(&theirs).unwrap().count()));
            let spawn = host::Spawn {
                program: program.clone(),
                arguments: vec![name.into(), "--nocapture".into()],
                environment: vec![(INNER.into(), home.to_string_lossy().into_owned())],
                directory: theirs.clone(),
                output: output.clone(),
            };
            spawn.start_as(77).unwrap().1.await;
            fs::read_to_string(output).unwrap()
        };
        for (path, _) in closed {
            let said = look().await;
            assert!(said.contains("is closed to the user of this process"), "{said}");
            let mode = if path.is_dir() { 0o755 } else { 0o600 };
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        for (path, mode) in closed {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(checked(&sums, &home).unwrap(), Some(vec![jar]));
        let said = look().await;
        assert!(said.contains("found true"), "{said}");
    }
}
