//! Kafka's jars on this machine: fetched once, checked once, shared by all
//! servers and all processes of the user.
//!
//! `<cache>/kafka/<version>-<sums>/libs/*.jar` is there whole or not at all: it
//! is renamed into place after every jar was checked. Later starts compare names
//! and sizes only.

mod cache;
mod error;
mod maven;
mod sums;
mod unpacked;

pub(crate) use cache::{STAGING, remove_leftovers};
pub use error::ArtifactError;
pub(crate) use sums::digest;

use crate::Progress;
use crate::versions::{self, Release};
use cache::{MANIFEST, cached, lock, place};
use model::KafkaVersion;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use sums::Sums;

const BROKER_JAR: &[u8] = include_bytes!(env!("CASTELLAN_BROKER_JAR"));

/// A Kafka that can be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Distribution {
    pub version: KafkaVersion,
    /// Our own jar first, then Kafka's by name: start-up caches need a stable
    /// order.
    pub class_path: Vec<PathBuf>,
}

impl Distribution {
    pub fn class_path_text(&self) -> String {
        let paths: Vec<_> = self.class_path.iter().map(|path| path.to_string_lossy()).collect();
        paths.join(":")
    }
}

/// Where Kafka is taken from.
#[derive(Clone, Debug)]
pub struct Artifacts {
    cache: PathBuf,
    distributions: BTreeMap<String, PathBuf>,
}

/// The user's cache directory for us.
pub fn default_cache_root() -> PathBuf {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || {
        env::var_os("HOME").map_or_else(env::temp_dir, |home| PathBuf::from(home).join(".cache"))
    };
    named.unwrap_or_else(home).join("castellan")
}

impl Artifacts {
    /// `distributions` are unpacked Kafkas by version, used instead of Maven.
    pub fn new(cache_root: PathBuf, distributions: BTreeMap<String, PathBuf>) -> Self {
        let mut cache = cache_root;
        cache.push("kafka");
        Self { cache, distributions }
    }

    /// Whether that version can be used without fetching.
    pub fn present(&self, version: KafkaVersion) -> bool {
        match (self.distributions.get(&version.to_string()), Sums::of(version)) {
            (Some(directory), _) => directory.join("libs").is_dir(),
            (None, Some(sums)) => cached(&self.home(version, &sums)).is_some(),
            (None, None) => false,
        }
    }

    /// That version, fetched if need be. Two processes that ask at once share
    /// one download.
    pub async fn ensure(
        &self,
        version: KafkaVersion,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Distribution, ArtifactError> {
        let release = versions::release(version).ok_or(ArtifactError::Unsupported(version))?;
        let sums = Sums::of(version).ok_or(ArtifactError::Unsupported(version))?;
        fs::create_dir_all(&self.cache).map_err(|error| ArtifactError::io(&self.cache, error))?;
        let mut class_path = vec![self.broker_jar()?];
        class_path.extend(match self.distributions.get(&version.to_string()) {
            Some(directory) => unpacked::jars(directory, version, &sums, &self.cache)?,
            None => self.maven(release, &sums, progress).await?,
        });
        Ok(Distribution { version, class_path })
    }

    fn home(&self, version: KafkaVersion, sums: &Sums) -> PathBuf {
        self.cache.join(format!("{version}-{}", sums.identity()))
    }

    /// Our jar, named by its contents: a newer Castellan brings another beside it.
    fn broker_jar(&self) -> Result<PathBuf, ArtifactError> {
        let path = self.cache.join(format!("castellan-broker-{}.jar", &digest(BROKER_JAR)[..16]));
        let there = fs::metadata(&path).is_ok_and(|file| file.len() == BROKER_JAR.len() as u64);
        if !there {
            host::write_atomic(&path, BROKER_JAR)
                .map_err(|error| ArtifactError::io(&path, error))?;
        }
        Ok(path)
    }

    async fn maven(
        &self,
        release: &Release,
        sums: &Sums,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Vec<PathBuf>, ArtifactError> {
        let home = self.home(release.version, sums);
        if let Some(jars) = cached(&home) {
            return Ok(jars);
        }
        let _lock = lock(&self.cache, progress).await?;
        // Whoever had the lock before may have fetched it.
        if let Some(jars) = cached(&home) {
            return Ok(jars);
        }
        let io = |error| ArtifactError::io(&home, error);
        remove_leftovers(&self.cache);
        let staging =
            tempfile::Builder::new().prefix(STAGING).tempdir_in(&self.cache).map_err(io)?;
        maven::fetch(release, sums, staging.path(), progress).await?;
        progress(Progress::Checking { version: release.version });
        let ready = staging.keep();
        let (checked, target) = (sums.clone(), home.clone());
        let placed = tokio::task::spawn_blocking(move || {
            place(&checked, &ready, &target).inspect_err(|_| {
                // The reason to fail is told; what is left over is no second one.
                let _ = fs::remove_dir_all(&ready);
            })
        });
        placed.await.expect("checking does not panic")?;
        cached(&home).ok_or_else(|| ArtifactError::Missing {
            version: release.version,
            jar: MANIFEST.into(),
        })
    }
}

fn is_jar(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "jar")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cache_that_is_no_directory_is_refused_with_advice() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let artifacts = Artifacts::new(file.path().into(), BTreeMap::new());
        let error = artifacts.ensure(KafkaVersion::new(4, 3, 1), &|_| {}).await.unwrap_err();
        assert!(error.to_string().contains("can't be used as a cache"), "{error}");
        let error = artifacts.ensure(KafkaVersion::new(4, 3, 0), &|_| {}).await.unwrap_err();
        assert!(error.to_string().contains("not supported"), "{error}");
    }
}
