//! One directory of the cache: taken by one process at a time, put in place
//! whole, and trusted later by names and sizes.

use super::ArtifactError;
use super::sums::Sums;
use crate::Progress;
use host::DirLock;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Names and sizes of the jars beside it; written when they were checked.
pub const MANIFEST: &str = "manifest.json";
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
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Checks what was fetched and makes it the cache's.
pub fn place(sums: &Sums, staging: &Path, home: &Path) -> Result<(), ArtifactError> {
    let io = |error| ArtifactError::io(home, error);
    let libs = staging.join("libs");
    let mut sizes = BTreeMap::new();
    for jar in sums.names() {
        sums.check(&libs, jar)?;
        // Later a jar is trusted by its size, which a crash may keep while it
        // loses the contents.
        let file = File::open(libs.join(jar)).map_err(io)?;
        file.sync_all().map_err(io)?;
        sizes.insert(jar, file.metadata().map_err(io)?.len());
    }
    host::sync_dir(&libs).map_err(io)?;
    let manifest = serde_json::to_vec_pretty(&sizes).expect("names and sizes serialise");
    host::write_atomic(&staging.join(MANIFEST), &manifest).map_err(io)?;
    // One that is there lacks a jar, or `cached` would have taken it.
    if home.exists() {
        fs::remove_dir_all(home).map_err(io)?;
    }
    fs::rename(staging, home).map_err(io)
}

/// The jars of a directory that was checked before, if they are all there still.
pub fn cached(home: &Path) -> Option<Vec<PathBuf>> {
    let manifest = fs::read(home.join(MANIFEST)).ok()?;
    let sizes: BTreeMap<String, u64> = serde_json::from_slice(&manifest).ok()?;
    let jar = |(name, size): (&String, &u64)| {
        let path = home.join("libs").join(name);
        (fs::metadata(&path).ok()?.len() == *size).then_some(path)
    };
    sizes.iter().map(jar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_lost_a_jar_is_fetched_again() {
        let home = tempfile::tempdir().unwrap();
        let jar = home.path().join("libs/a.jar");
        fs::create_dir(home.path().join("libs")).unwrap();
        fs::write(&jar, "four").unwrap();
        assert_eq!(cached(home.path()), None);
        fs::write(home.path().join(MANIFEST), r#"{"a.jar":4}"#).unwrap();
        assert_eq!(cached(home.path()), Some(vec![jar.clone()]));
        fs::write(&jar, "longer").unwrap();
        assert_eq!(cached(home.path()), None);
    }
}
