//! What a JVM can reuse of an earlier start: loaded and linked classes. It
//! halves the work of starting a broker.
//!
//! Made once for each Kafka, exact Java, class path and our own jar, all of
//! which are in the file's name; there whole or not at all. The JVM checks it
//! again and starts without if it does not fit, so it is never a reason for a
//! broker not to start.

mod certificates;
mod exercise;
mod training;

use crate::Progress;
use crate::artifacts::{Distribution, STAGING, digest, remove_leftovers};
use crate::java::Java;
use host::DirLock;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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

/// The cache for this Kafka on this Java, made now if there is none. Two
/// processes that ask at once share one.
pub async fn ensure(
    cache_root: &Path,
    distribution: &Distribution,
    java: &Java,
    progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<StartupCache, StartupCacheError> {
    let directory = cache_root.join("startup");
    let file = directory.join(file_name(distribution, java));
    if file.exists() {
        return Ok(using(java, &file));
    }
    fs::create_dir_all(&directory).map_err(StartupCacheError::io(&directory))?;
    let _lock = lock(&directory, progress).await?;
    // Whoever had the lock before may have made it.
    if file.exists() {
        return Ok(using(java, &file));
    }
    progress(Progress::Training { version: distribution.version, java: java.major });
    remove_leftovers(&directory);
    let staging = tempfile::Builder::new()
        .prefix(STAGING)
        .tempdir_in(&directory)
        .map_err(StartupCacheError::io(&directory))?;
    let made = staging.path().join("cache");
    training::run(distribution, java, &recording(java, &made), staging.path(), &made).await?;
    fs::rename(&made, &file).map_err(StartupCacheError::io(&file))?;
    Ok(using(java, &file))
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

/// Names everything that the JVM compares before it takes a cache.
fn file_name(distribution: &Distribution, java: &Java) -> String {
    let mut key = format!("{} {}", java.home.display(), java.version);
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
        };
        let other =
            Distribution { class_path: vec!["/b.jar".into(), "/a.jar".into()], ..one.clone() };
        let name = file_name(&one, &java(25, "25.0.3"));
        assert!(name.starts_with("4.3.1-java25-"), "{name}");
        assert_ne!(name, file_name(&one, &java(25, "25.0.4")));
        assert_ne!(name, file_name(&other, &java(25, "25.0.3")));
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
