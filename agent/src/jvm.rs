//! Kafka on Java, as the supervisor starts it.
//!
//! Everything is looked up for each start: a Java that was upgraded, or a cache
//! that was cleared, must not keep a broker down.

use crate::disk::Needed;
use crate::launcher::{Launch, Launcher};
use crate::place::Place;
use crate::pool;
use crate::start;
use crate::successor::{Home, Successor};
use async_trait::async_trait;
use kafka::artifacts::{Artifacts, Distribution, Work, default_cache_root};
use kafka::java::Java;
use kafka::startup_cache::StartupCache;
use kafka::versions::Release;
use kafka::{Progress, java, launch, rehearsal, startup_cache, versions};
use model::KafkaVersion;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use wire::agent::{Desired, DesiredBroker, Format, HostSettings, STORE_BALLAST, StoreRoom};

/// What a start writes before it serves, recovery of the last segments included.
/// With less, all that starts do is fail.
pub(crate) const ROOM_TO_START: u64 = 32 << 20;

/// What a JVM takes while it rehearses, some of its heap included, and some more: the broker
/// beside it must not be short of any.
const MEMORY_TO_WARM: u64 = 512 << 20;

/// How long a start-up cache that another process makes is worth the wait.
const OTHERS_WORK: Duration = Duration::from_mins(5);
const LOOK: Duration = Duration::from_millis(500);

pub struct Jvm {
    pub place: Place,
}

#[async_trait]
impl Launcher for Jvm {
    async fn prepare(
        &self,
        broker: &DesiredBroker,
        progress: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Launch, String> {
        let say = |step: Progress| progress(step.to_string());
        // The operator's settings may change while we run.
        let host = start::load(&self.place).map_err(words)?.host;
        let cache = host.cache.unwrap_or_else(default_cache_root);
        let release = release(broker.kafka_version)?;
        let java = java::find(release.java(), host.java.as_deref()).await.map_err(words)?;
        let artifacts = Artifacts::new(cache.clone(), host.distributions);
        let distribution = artifacts.ensure(broker.kafka_version, &say).await.map_err(words)?;
        let work = artifacts.work(broker.kafka_version);
        let startup = startup_cache(&cache, &distribution, &java, &work, &say).await;
        let flags = &broker.jvm_flags;
        Ok(command(&distribution, &java, startup.as_ref(), flags, &broker.logging_file))
    }

    fn room_to_start(&self) -> Needed {
        Needed { to_start: ROOM_TO_START, kept: kept(&self.place) }
    }

    fn may_warm(&self) -> Result<bool, String> {
        let start = start::load(&self.place).map_err(words)?;
        // It becomes its server's user between one broker and the next, and what it started
        // before would stay root's.
        let changes_user = host::is_root() && start.uid.is_some();
        Ok(start.host.warm_rolls && !changes_user)
    }

    fn keeps_standby(&self) -> bool {
        start::load(&self.place).is_ok_and(|start| start.host.standby)
    }

    fn check_memory(&self) -> Result<(), String> {
        check_memory()
    }

    fn rehearse(&self, broker: &DesiredBroker, launch: &Launch) -> Result<Launch, String> {
        let (version, logging) = (broker.kafka_version, &broker.logging_file);
        rehearse(&self.place.warm_home(), version, logging, launch)
    }

    async fn take_from_pool(&self, launch: &Launch) -> Option<Successor> {
        pool::take(&self.place, launch).await
    }

    fn format_arguments(&self, desired: &Desired, format: &Format) -> String {
        let mut text = launch::format_arguments(
            &desired.cluster_id,
            &desired.disk.directory_id,
            &format.initial_controllers,
        )
        .join("\n");
        text.push('\n');
        text
    }
}

fn release(version: KafkaVersion) -> Result<&'static Release, String> {
    versions::release(version).ok_or_else(|| format!("Kafka {version} is not supported"))
}

fn command(
    distribution: &Distribution,
    java: &Java,
    startup: Option<&StartupCache>,
    flags: &[String],
    logging_file: &str,
) -> Launch {
    let (program, arguments) =
        launch::command_line(distribution, java, startup, flags, logging_file);
    Launch { program, arguments }
}

/// What [`Launcher::prepare`] would return for such a broker, if nothing has to be fetched or
/// made for it.
pub(crate) async fn command_at_hand(
    host: &HostSettings,
    version: KafkaVersion,
    flags: &[String],
    logging_file: &str,
) -> Result<Launch, String> {
    let cache = host.cache.clone().unwrap_or_else(default_cache_root);
    let java = java::find(release(version)?.java(), host.java.as_deref()).await.map_err(words)?;
    let artifacts = Artifacts::new(cache.clone(), host.distributions.clone());
    if !artifacts.present(version) {
        return Err(format!("Kafka {version} is not there yet"));
    }
    let distribution = artifacts.ensure(version, &|_| {}).await.map_err(words)?;
    let Some(startup) = startup_cache::find(&cache, &distribution, &java).await else {
        return Err(format!("the start-up cache of Kafka {version} is not there yet"));
    };
    Ok(command(&distribution, &java, Some(&startup), flags, logging_file))
}

/// Whether there is the memory to warm up one more JVM.
pub(crate) fn check_memory() -> Result<(), String> {
    match host::spare_memory() {
        Some(spare) if spare < MEMORY_TO_WARM => Err(format!(
            "{} MiB of memory are left, and {} are needed to warm it up",
            spare >> 20,
            MEMORY_TO_WARM >> 20,
        )),
        Some(_) => Ok(()),
        None => Err("this host does not tell how much memory is left".into()),
    }
}

/// Prepares a rehearsal there, and names the command that is warmed up by it.
pub(crate) fn rehearse(
    home: &Home,
    version: KafkaVersion,
    logging_file: &str,
    launch: &Launch,
) -> Result<Launch, String> {
    let (release, directory) = (release(version)?, &home.rehearsal);
    let prepare = || {
        host::remove_tree(directory)?;
        host::create_private_dir(directory)?;
        rehearsal::prepare(release, directory)
    };
    prepare().map_err(|error| format!("its rehearsal can't be prepared: {error}"))?;
    let Launch { program, arguments } = launch.clone();
    let arguments = launch::warm_arguments(&arguments, logging_file, directory, &home.state);
    Ok(Launch { program, arguments })
}

/// What the control plane's store needs of the disk's own file system. A store that is
/// elsewhere, or can't be looked at, needs nothing here, nor does one whose ballast is there:
/// that is its room, and no broker can take it.
fn kept(place: &Place) -> u64 {
    let store = start::load(place).ok().and_then(|start| start.host.store);
    let is_here =
        |store: &StoreRoom| host::share_room(&place.disk(), &store.directory).unwrap_or(false);
    store.filter(is_here).filter(|store| !is_held(store)).map_or(0, |store| store.bytes)
}

fn is_held(store: &StoreRoom) -> bool {
    let ballast = std::fs::metadata(store.directory.join(STORE_BALLAST));
    ballast.is_ok_and(|ballast| ballast.len() >= store.bytes)
}

/// A broker starts without it too, only slower. An agent that may not write to the cache
/// waits for the process that may, while that is at work.
async fn startup_cache(
    root: &Path,
    distribution: &Distribution,
    java: &Java,
    work: &Work,
    say: &(dyn Fn(Progress) + Send + Sync),
) -> Option<StartupCache> {
    if host::can_write(root) {
        let made = startup_cache::ensure(root, distribution, java, None, say).await;
        let warn = |error: &_| tracing::warn!(%error, "starting without a start-up cache");
        return made.inspect_err(warn).ok();
    }
    let deadline = Instant::now() + OTHERS_WORK;
    loop {
        if let Some(found) = startup_cache::find(root, distribution, java).await {
            return Some(found);
        }
        if !work.goes_on() || Instant::now() > deadline {
            tracing::warn!("starting without a start-up cache: there is none");
            return None;
        }
        say(Progress::Training { version: distribution.version, java: java.major });
        sleep(LOOK).await;
    }
}

fn words(error: impl std::error::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{disk, testing};
    use std::fs;
    use wire::agent::AgentStart;

    #[test]
    fn no_broker_starts_on_the_room_of_a_store_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        fs::create_dir(place.disk()).unwrap();
        let jvm = Jvm { place };
        let check = |expected: u64| {
            let needed = Needed { to_start: ROOM_TO_START, kept: expected };
            assert_eq!(jvm.room_to_start(), needed);
        };
        let write = |directory: &Path, bytes: u64| {
            let store = Some(StoreRoom { directory: directory.into(), bytes });
            let host = HostSettings { store, ..<_>::default() };
            let start = AgentStart { host, ..testing::start() };
            fs::write(jvm.place.start(), serde_json::to_vec(&start).unwrap()).unwrap();
        };
        check(0);
        write(Path::new("/proc"), u64::MAX);
        check(0);
        write(&directory.path().join("nowhere"), u64::MAX);
        check(0);
        write(directory.path(), u64::MAX);
        check(u64::MAX);
        let full = disk::check_room(&jvm.place, jvm.room_to_start()).unwrap_err().to_string();
        assert!(full.contains("have to stay free for Castellan's own data"), "{full}");

        // Its ballast holds it, unless that was cut short.
        let ballast = directory.path().join(STORE_BALLAST);
        for (size, expected) in [(4096, 0), (4095, 4096)] {
            fs::write(&ballast, vec![0; size]).unwrap();
            write(directory.path(), 4096);
            check(expected);
        }
    }
}
