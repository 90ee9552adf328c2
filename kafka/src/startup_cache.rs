//! What a JVM can reuse of an earlier start: loaded and linked classes. It
//! halves the work of starting a broker.
//!
//! Made once for each Kafka, exact Java, class path and our own jar, by their
//! contents, all of which are in the file's name; there whole or not at all. Its sum
//! is beside it and checked at each use that finds it changed, and once a day: a JVM
//! believes what it finds in there. The
//! JVM checks whether it fits and starts without if it does not, so it is never a
//! reason for a broker not to start.

mod exercise;
mod training;

use crate::Progress;
use crate::artifacts::{
    Distribution, STAGING, digest, digest_of_file, make_cache_dir, remove_leftovers, unless_noted,
};
use crate::java::Java;
use host::DirLock;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::task::spawn_blocking;

/// What a training run makes, in its directory.
const MADE: &str = "cache";
/// From here on the JVM caches linked classes and profiles, not classes alone.
const AOT_FROM: u16 = 25;

/// JVM flags that use a cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StartupCache {
    pub flags: Vec<String>,
}

/// Why there is no cache. A broker starts without one too, only slower.
#[derive(Debug, thiserror::Error)]
pub enum StartupCacheError {
    #[error("{} can't be used for start-up caches: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the broker started to make a start-up cache {what}: {output}")]
    Training { what: &'static str, output: String },
    #[error("Java {0} ended without writing a start-up cache: {1}")]
    NotWritten(String, String),
}

impl StartupCacheError {
    fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

/// The cache for this Kafka on this Java, if it is there and as it was made.
pub async fn find(
    cache_root: &Path,
    distribution: &Distribution,
    java: &Java,
) -> Option<StartupCache> {
    let file = directory(cache_root).join(file_name(distribution, java));
    let flags = using(java, &file);
    let is_whole = spawn_blocking(move || is_whole(&file));
    is_whole.await.expect("checking does not panic").then_some(flags)
}

/// The same, made now if there is none. Two processes that ask at once share one. The
/// broker that is started for it runs as that user, if one is given.
pub async fn ensure(
    cache_root: &Path,
    distribution: &Distribution,
    java: &Java,
    uid: Option<u32>,
    progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<StartupCache, StartupCacheError> {
    if let Some(found) = find(cache_root, distribution, java).await {
        return Ok(found);
    }
    let directory = directory(cache_root);
    let io = StartupCacheError::io(&directory);
    make_cache_dir(&directory).map_err(&io)?;
    let _lock = lock(&directory, progress).await?;
    // Whoever had the lock before may have made it.
    if let Some(found) = find(cache_root, distribution, java).await {
        return Ok(found);
    }
    progress(Progress::Training { version: distribution.version, java: java.major });
    remove_leftovers(&directory);
    let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(&directory).map_err(&io)?;
    let made = staging.path().join(MADE);
    let recording = recording(java, &made);
    training::run(distribution, java, &recording, staging.path(), &made, uid).await?;
    let file = directory.join(file_name(distribution, java));
    let (staging, target) = (staging.path().to_owned(), file.clone());
    let kept = spawn_blocking(move || keep(&staging, &target));
    kept.await.expect("copying does not panic").map_err(StartupCacheError::io(&file))?;
    Ok(using(java, &file))
}

fn directory(cache_root: &Path) -> PathBuf {
    cache_root.join("startup")
}

/// Takes over what a training run made: a copy, since that may be another user's file.
/// The sum is last, and without it the file is not used.
fn keep(staging: &Path, file: &Path) -> io::Result<()> {
    let mut made = host::open_beneath(staging, Path::new(MADE))?;
    let directory = file.parent().unwrap_or(Path::new("."));
    let mut copy = tempfile::Builder::new().prefix(STAGING).tempfile_in(directory)?;
    io::copy(&mut made, copy.as_file_mut())?;
    copy.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    copy.as_file().sync_all()?;
    let sum = digest_of_file(copy.path())?;
    copy.persist(file)?;
    host::write_atomic(&sum_file(file), sum.as_bytes())
}

fn is_whole(file: &Path) -> bool {
    let Ok(known) = fs::read_to_string(sum_file(file)) else { return false };
    let check = || digest_of_file(file).ok().filter(|sum| *sum == known).map(drop).ok_or(());
    let note = file.with_added_extension("checked");
    let is_whole = unless_noted(&note, &[file.to_owned(), sum_file(file)], check).is_ok();
    if !is_whole {
        tracing::warn!(path = %file.display(), "a start-up cache is not what was made");
    }
    is_whole
}

fn sum_file(file: &Path) -> PathBuf {
    file.with_added_extension("sha256")
}

async fn lock(
    directory: &Path,
    progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<DirLock, StartupCacheError> {
    if let Ok(lock) = DirLock::try_take(directory) {
        return Ok(lock);
    }
    progress(Progress::Waiting);
    DirLock::take_async(directory.to_owned())
        .await
        .map_err(|error| StartupCacheError::io(directory)(io::Error::other(error)))
}

fn recording(java: &Java, file: &Path) -> StartupCache {
    let option = if java.major >= AOT_FROM { "AOTCacheOutput" } else { "ArchiveClassesAtExit" };
    StartupCache { flags: vec![format!("-XX:{option}={}", file.display())] }
}

fn using(java: &Java, file: &Path) -> StartupCache {
    // A cache that does not fit any more is passed over in silence: standard
    // error is for reasons that a broker can't start.
    let (option, quiet) = if java.major >= AOT_FROM {
        ("AOTCache", "-Xlog:aot*=error")
    } else {
        ("SharedArchiveFile", "-Xlog:cds*=error")
    };
    StartupCache { flags: vec![format!("-XX:{option}={}", file.display()), quiet.into()] }
}

/// Names what it was made from, and everything that the JVM compares before it takes
/// a cache.
fn file_name(distribution: &Distribution, java: &Java) -> String {
    let identity = &distribution.identity;
    let mut key = format!("{} {} {identity}", java.home.display(), java.version);
    for jar in &distribution.class_path {
        let (size, modified) = fs::metadata(jar).map_or((0, 0), |file| (file.len(), file.mtime()));
        write!(key, "\n{} {size} {modified}", jar.display())
            .expect("writing to a string can't fail");
    }
    let Distribution { version, .. } = distribution;
    format!("{version}-java{}-{}", java.major, &digest(key.as_bytes())[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::KafkaVersion;

    fn java(major: u16, version: &str) -> Java {
        Java { major, version: version.into(), home: "/jdk".into() }
    }

    #[test]
    fn another_java_or_class_path_has_another_cache() {
        let one = Distribution {
            version: KafkaVersion::new(4, 3, 1),
            class_path: vec!["/a.jar".into(), "/b.jar".into()],
            identity: "one".into(),
        };
        let other =
            Distribution { class_path: vec!["/b.jar".into(), "/a.jar".into()], ..one.clone() };
        let name = file_name(&one, &java(25, "25.0.3"));
        assert!(name.starts_with("4.3.1-java25-"), "{name}");
        assert_ne!(name, file_name(&one, &java(25, "25.0.4")));
        assert_ne!(name, file_name(&other, &java(25, "25.0.3")));
        let other = Distribution { identity: "two".into(), ..one };
        assert_ne!(name, file_name(&other, &java(25, "25.0.3")));
    }

    #[test]
    fn a_cache_that_was_changed_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let (staging, file) = (place.path().join("staging"), place.path().join("4.3.1-java25-x"));
        fs::create_dir(&staging).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", staging.join(MADE)).unwrap();
        keep(&staging, &file).unwrap_err();
        fs::remove_file(staging.join(MADE)).unwrap();
        fs::write(staging.join(MADE), "classes").unwrap();
        keep(&staging, &file).unwrap();
        assert!(is_whole(&file));
        fs::write(&file, "Classes").unwrap();
        assert!(!is_whole(&file));
        keep(&staging, &file).unwrap();
        fs::remove_file(sum_file(&file)).unwrap();
        assert!(!is_whole(&file), "a crash came in between");
    }

    #[test]
    fn each_java_has_its_own_kind() {
        let check = |major: u16, expected: &str| {
            let flags = using(&java(major, "x"), Path::new("/c")).flags.join(" ");
            assert_eq!(flags, expected);
        };
        check(25, "-XX:AOTCache=/c -Xlog:aot*=error");
        check(17, "-XX:SharedArchiveFile=/c -Xlog:cds*=error");
    }
}
