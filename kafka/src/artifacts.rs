//! Kafka's jars on this machine: fetched once, shared by all servers and all
//! processes that may read the cache, and checked by their sums at each use that finds them
//! changed, and once a day.
//!
//! `<cache>/kafka/<version>-<sums>/libs/*.jar` is there whole or not at all: it
//! is renamed into place after every jar was checked. A process that may not write
//! to the cache, as agents with a uid of their own, waits for one that may.

mod cache;
mod cache_root;
mod checked;
mod error;
mod maven;
mod sums;
mod unpacked;
mod work;

pub(crate) use cache::{STAGING, remove_leftovers};
pub use cache_root::default_cache_root;
pub(crate) use cache_root::make as make_cache_dir;
pub(crate) use checked::unless_noted;
pub use error::ArtifactError;
pub(crate) use sums::{digest, digest_of_file};
pub use work::Work;

use crate::Progress;
use crate::versions::{self, Release};
use cache::{checked, lock, place};
use model::KafkaVersion;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sums::Sums;
use tokio::task::spawn_blocking;

/// Between looks for what another process fetches.
const LOOK: Duration = Duration::from_millis(500);
const BROKER_JAR: &[u8] = include_bytes!(env!("CASTELLAN_BROKER_JAR"));

/// A Kafka that can be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Distribution {
    pub version: KafkaVersion,
    /// Our own jar first, then Kafka's by name: start-up caches need a stable
    /// order.
    pub class_path: Vec<PathBuf>,
    /// Differs if any byte of any jar does.
    pub identity: String,
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
    root: PathBuf,
    /// For jars, below the root.
    cache: PathBuf,
    distributions: BTreeMap<String, PathBuf>,
}

impl Artifacts {
    /// `distributions` are unpacked Kafkas by version, used instead of Maven.
    pub fn new(cache_root: PathBuf, distributions: BTreeMap<String, PathBuf>) -> Self {
        Self { cache: cache_root.join("kafka"), root: cache_root, distributions }
    }

    /// Whether that version seems to be there, without a look into its jars.
    pub fn present(&self, version: KafkaVersion) -> bool {
        let home = match (self.distributions.get(&version.to_string()), Sums::for_version(version))
        {
            (Some(directory), _) => directory.clone(),
            (None, Some(sums)) => self.home(version, &sums),
            (None, None) => return false,
        };
        home.join("libs").is_dir()
    }

    /// That version, fetched if need be. Two processes that ask at once share
    /// one download.
    pub async fn ensure(
        &self,
        version: KafkaVersion,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Distribution, ArtifactError> {
        let release = versions::release(version).ok_or(ArtifactError::Unsupported(version))?;
        let sums = Sums::for_version(version).ok_or(ArtifactError::Unsupported(version))?;
        let made = cache_root::make(&self.root).and_then(|()| cache_root::make(&self.cache));
        made.map_err(|error| ArtifactError::io(&self.cache, error))?;
        cache_root::check(&self.root)?;
        let own = self.broker_jar(version, progress).await?;
        let (jars, identity) = match self.distributions.get(&version.to_string()).cloned() {
            Some(directory) => {
                let look = move || unpacked::jars(&directory, version, &sums);
                spawn_blocking(look).await.expect("checking does not panic")?
            }
            None => (self.maven(release, &sums, progress).await?, sums.identity().to_owned()),
        };
        let identity = format!("{identity} {}", digest(BROKER_JAR));
        let class_path = [own].into_iter().chain(jars).collect();
        Ok(Distribution { version, class_path, identity })
    }

    fn home(&self, version: KafkaVersion, sums: &Sums) -> PathBuf {
        self.cache.join(format!("{version}-{}", sums.identity()))
    }

    /// Our jar, named by its contents: a newer Castellan brings another beside it.
    async fn broker_jar(
        &self,
        version: KafkaVersion,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<PathBuf, ArtifactError> {
        let path = self.cache.join(format!("castellan-broker-{}.jar", &digest(BROKER_JAR)[..16]));
        let io = |error| ArtifactError::io(&path, error);
        loop {
            match fs::read(&path) {
                Ok(present) if present == BROKER_JAR => break,
                _ if host::can_write(&self.cache) => {
                    host::write_atomic(&path, BROKER_JAR).map_err(io)?;
                }
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(ArtifactError::read(&path, error));
                }
                _ => self.wait_for_work(version, progress).await,
            }
        }
        cache_root::open_to_readers([path.clone()]).map_err(io)?;
        Ok(path)
    }

    async fn maven(
        &self,
        release: &'static Release,
        sums: &Sums,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Vec<PathBuf>, ArtifactError> {
        loop {
            if let Some(jars) = self.checked(release, sums).await? {
                return Ok(jars);
            }
            if host::can_write(&self.cache) {
                return self.fetch(release, sums, progress).await;
            }
            self.wait_for_work(release.version, progress).await;
        }
    }

    /// What the process that may write to the cache says, and a while.
    async fn wait_for_work(
        &self,
        version: KafkaVersion,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) {
        let problem = self.work(version).problem();
        progress(Progress::WaitingForKafka { version, problem });
        tokio::time::sleep(LOOK).await;
    }

    /// The work that another process does for those that may only read.
    pub fn work(&self, version: KafkaVersion) -> Work {
        Work::new(&self.cache, version)
    }

    async fn checked(
        &self,
        release: &Release,
        sums: &Sums,
    ) -> Result<Option<Vec<PathBuf>>, ArtifactError> {
        let (sums, home) = (sums.clone(), self.home(release.version, sums));
        spawn_blocking(move || checked(&sums, &home)).await.expect("checking does not panic")
    }

    async fn fetch(
        &self,
        release: &'static Release,
        sums: &Sums,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Vec<PathBuf>, ArtifactError> {
        let home = self.home(release.version, sums);
        let _lock = lock(&self.cache, progress).await?;
        // Whoever had the lock before may have fetched it.
        if let Some(jars) = self.checked(release, sums).await? {
            return Ok(jars);
        }
        let io = |error| ArtifactError::io(&home, error);
        remove_leftovers(&self.cache);
        let staging =
            tempfile::Builder::new().prefix(STAGING).tempdir_in(&self.cache).map_err(io)?;
        let extension = staging.path().join("castellan-fetch.jar");
        host::write_atomic(&extension, BROKER_JAR).map_err(io)?;
        maven::fetch(release, sums, staging.path(), &extension, progress).await?;
        progress(Progress::Checking { version: release.version });
        let ready = staging.keep();
        let (known, target) = (sums.clone(), home.clone());
        let placed = spawn_blocking(move || {
            place(&known, &ready, &target).inspect_err(|_| {
                // The reason to fail is told; what is left over is no second one.
                let _ = fs::remove_dir_all(&ready);
            })
        });
        placed.await.expect("checking does not panic")?;
        let libs = home.join("libs");
        Ok(sums.names().map(|jar| libs.join(jar)).collect())
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
