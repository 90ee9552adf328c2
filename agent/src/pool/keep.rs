//! Keeping a pool filled: one JVM at a time is warmed up, at low priority.

use super::stock::{self, Spare, Stock};
use crate::jvm;
use crate::launcher::Launch;
use crate::successor::{Home, SUCCESSOR_VARIABLE, Successor};
use async_trait::async_trait;
use host::{DirLock, Handover, LockError, ProcessId};
use model::KafkaVersion;
use serde::{Deserialize, Serialize};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};
use wire::agent::HostSettings;

const LOOK: Duration = Duration::from_secs(1);
/// Kafka, Java and the start-up cache are looked up so often while nothing is warmed up.
const LOOK_UP: Duration = Duration::from_secs(30);
/// After a failure, and while another control plane keeps the pool.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Each word that a JVM says of its rehearsal may take so long. It runs at the lowest priority.
const REHEARSAL: Duration = Duration::from_mins(2);
const WHOLE_REHEARSAL: Duration = Duration::from_mins(5);
/// Agents that are answered at once.
const ASKERS: usize = 16;
const STATUS: &str = "status.json";

/// What sort of broker the JVMs can become.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    pub kafka_version: KafkaVersion,
    pub jvm_flags: Vec<String>,
    pub logging_file: String,
}

/// What is to be kept now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    pub count: usize,
    pub shape: Shape,
    /// Why it is fewer than it could be.
    pub why: Option<String>,
}

/// What the pool asks of the control plane and its host.
#[async_trait]
pub trait PoolHost: Send + Sync {
    /// An error is a sentence.
    async fn wanted(&self) -> Result<Wanted, String>;

    /// The uid of the JVMs to come, which the next instance gets; none where all share ours.
    fn reserve_uid(&self) -> Result<Option<u32>, String>;

    /// When no process has it any more.
    fn drop_reservation(&self) -> Result<(), String>;

    /// Whether no instance has got that uid yet.
    fn is_reserved(&self, uid: u32) -> bool;

    /// Puts the process under the limits of the server whose agent this is. An error is a
    /// sentence.
    fn enter_group(&self, agent: i32, process: &ProcessId) -> Result<(), String>;
}

/// The state of a pool, as `castellan host` shows it.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Status {
    pub wanted: usize,
    pub kafka_version: Option<KafkaVersion>,
    /// Those that wait for a server.
    pub ready: Vec<ProcessId>,
    /// Why there are fewer than wanted, or why no more are wanted.
    pub why: Option<String>,
}

pub struct Pool {
    /// `pool` in the directory of the host's servers; absolute.
    pub directory: PathBuf,
    pub settings: HostSettings,
    pub host: Arc<dyn PoolHost>,
}

impl Pool {
    /// Never returns. To be dropped: then every JVM ends that waits.
    pub async fn keep(self) {
        loop {
            match self.keep_alone().await {
                // Another control plane of this host keeps it, and may end.
                Err(KeepError::Lock(LockError::Held { .. })) | Ok(()) => {}
                Err(error) => tracing::warn!(%error, "no warm JVMs are kept; trying again"),
            }
            sleep(RETRY_AFTER).await;
        }
    }

    async fn keep_alone(&self) -> Result<(), KeepError> {
        open_to_users(&self.directory)?;
        let _lock = DirLock::try_take(&self.directory)?;
        let directory = self.directory.clone();
        let _ = spawn_blocking(move || end_leftovers(&directory)).await;
        // No process has the reserved uid any more.
        self.host.drop_reservation().map_err(io::Error::other)?;
        let handover = Handover::open(&self.directory)?;
        let stock = Arc::new(Stock::new());
        tokio::select! {
            () = self.serve(&handover, &stock) => {}
            () = self.fill(&stock) => {}
        }
        Ok(())
    }

    async fn serve(&self, handover: &Handover, stock: &Arc<Stock>) {
        let places = Arc::new(Semaphore::new(ASKERS));
        loop {
            let asker = match handover.asker().await {
                Ok(asker) => asker,
                Err(error) => {
                    tracing::warn!(%error, "an agent that asks for a warm JVM is not heard");
                    sleep(LOOK).await;
                    continue;
                }
            };
            // A user for whom there is none keeps no other waiting.
            if !stock.has_for(asker.uid) {
                continue;
            }
            let place = Arc::clone(&places).acquire_owned().await.expect("it is never closed");
            let (stock, host) = (Arc::clone(stock), Arc::clone(&self.host));
            tokio::spawn(async move {
                let _place = place;
                if let Err(error) = stock.answer(&*host, asker).await {
                    tracing::debug!(%error, "an agent that asked for a warm JVM got none");
                }
            });
        }
    }

    async fn fill(&self, stock: &Stock) {
        let (mut written, mut known) = (None, None);
        loop {
            let (status, failed) = self.look(stock, &mut known).await;
            if written.as_ref() != Some(&status) {
                tracing::debug!(?status, "the pool of warm JVMs");
                self.write_status(&status);
                written = Some(status);
            }
            sleep(if failed { RETRY_AFTER } else { LOOK }).await;
        }
    }

    /// Warms one up if there are too few. Returns the status, and whether that failed.
    async fn look(&self, stock: &Stock, known: &mut Option<Known>) -> (Status, bool) {
        let wanted = match self.host.wanted().await {
            Ok(wanted) => wanted,
            Err(why) => return (Status { why: Some(why), ..Status::default() }, false),
        };
        let Wanted { count, shape, why } = &wanted;
        let mut status = Status {
            wanted: *count,
            kafka_version: Some(shape.kafka_version),
            ready: Vec::new(),
            why: why.clone(),
        };
        let mut failed = false;
        match self.command(&wanted, known).await {
            Err(reason) => {
                stock.tidy(&*self.host, None, 0, Instant::now());
                status.why = Some(reason);
            }
            Ok(launch) => {
                let left = stock.tidy(&*self.host, launch.as_ref(), *count, Instant::now());
                if let Some(launch) = launch.filter(|_| left < *count && stock.may_fill()) {
                    match self.warm_up(shape, launch).await {
                        Ok(spare) => stock.add(spare),
                        Err(reason) => {
                            tracing::warn!(reason, "a JVM can't be warmed up");
                            (status.why, failed) = (Some(reason), true);
                        }
                    }
                }
            }
        }
        status.ready = stock.processes();
        (status, failed)
    }

    /// None if no JVM is wanted.
    async fn command(
        &self,
        wanted: &Wanted,
        known: &mut Option<Known>,
    ) -> Result<Option<Launch>, String> {
        let Wanted { count, shape, .. } = wanted;
        if *count == 0 {
            return Ok(None);
        }
        let is_good = |known: &&Known| known.shape == *shape && known.since.elapsed() < LOOK_UP;
        if let Some(known) = known.as_ref().filter(is_good) {
            return Ok(Some(known.launch.clone()));
        }
        let Shape { kafka_version, jvm_flags, logging_file } = shape;
        let launch =
            jvm::command_at_hand(&self.settings, *kafka_version, jvm_flags, logging_file).await?;
        *known =
            Some(Known { shape: shape.clone(), launch: launch.clone(), since: Instant::now() });
        Ok(Some(launch))
    }

    async fn warm_up(&self, shape: &Shape, launch: Launch) -> Result<Spare, String> {
        jvm::check_memory()?;
        let uid = self.host.reserve_uid()?;
        let home = self.home(uid).map_err(|error| format!("it has no directory: {error}"))?;
        let warmed = tokio::select! {
            warmed = self.warm_up_in(&home, uid, shape, launch) => warmed,
            () = sleep(WHOLE_REHEARSAL) => Err("its rehearsal takes too long".into()),
            () = self.until_given(uid) => Err("an instance has got its uid meanwhile".into()),
        };
        if warmed.is_err() {
            let _ = spawn_blocking(move || stock::remove(&home.directory)).await;
        }
        warmed
    }

    /// Then its user may do with the rehearsal what they like.
    async fn until_given(&self, uid: Option<u32>) {
        while uid.is_none_or(|uid| self.host.is_reserved(uid)) {
            sleep(LOOK).await;
        }
    }

    async fn warm_up_in(
        &self,
        home: &Home,
        uid: Option<u32>,
        shape: &Shape,
        launch: Launch,
    ) -> Result<Spare, String> {
        let Shape { kafka_version, logging_file, .. } = shape;
        let warm = jvm::rehearse(home, *kafka_version, logging_file, &launch)?;
        if let Some(uid) = uid {
            let given = host::give_away(&home.directory, uid, &[]);
            given.map_err(|error| format!("its directory can't be given to {uid}: {error}"))?;
        }
        let started = Successor::start(home.clone(), launch.clone(), warm, uid);
        let mut successor = started.map_err(|error| format!("it can't be started: {error}"))?;
        successor.ready(REHEARSAL).await?;
        Ok(Spare { successor, launch, home: home.clone(), uid, unwanted_since: None })
    }

    /// An empty directory in that of its user, which stays ours, so that nothing there can
    /// lead us elsewhere.
    fn home(&self, uid: Option<u32>) -> io::Result<Home> {
        let user = uid.or_else(|| ProcessId::own().uid()).unwrap_or_default();
        let of_user = self.directory.join(user.to_string());
        open_to_users(&of_user)?;
        let mut number = 1;
        while of_user.join(number.to_string()).exists() {
            number += 1;
        }
        let directory = of_user.join(number.to_string());
        let _ = fs::remove_file(stock::taken_mark(&directory));
        host::create_private_dir(&directory)?;
        Ok(Home {
            state: directory.join("state"),
            output: directory.join("output"),
            rehearsal: directory.join("rehearsal"),
            directory,
        })
    }

    fn write_status(&self, status: &Status) {
        let text = serde_json::to_vec_pretty(status).expect("plain data serialises");
        if let Err(error) = host::write_private(&self.directory.join(STATUS), &text) {
            tracing::warn!(%error, "the status of the pool of warm JVMs can't be written");
        }
    }
}

/// The command of a shape.
struct Known {
    shape: Shape,
    launch: Launch,
    since: Instant,
}

#[derive(Debug, thiserror::Error)]
enum KeepError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Others may pass through, and see nothing that is not theirs.
fn open_to_users(directory: &Path) -> io::Result<()> {
    host::create_private_dir(directory)?;
    fs::set_permissions(directory, Permissions::from_mode(0o711))
}

/// The last status of the pool in that directory; none if no control plane keeps it.
pub fn status(directory: &Path) -> Option<Status> {
    host::holder(directory)?;
    serde_json::from_slice(&fs::read(directory.join(STATUS)).ok()?).ok()
}

/// Ends the JVMs of a pool that no control plane keeps any more, and removes its files. JVMs
/// end by themselves, unless they hang. Those that were given away are brokers.
pub fn end_leftovers(directory: &Path) {
    let Ok(directory) = &directory.canonicalize() else { return };
    let mut living = Vec::new();
    for (home, process) in host::with_variable(SUCCESSOR_VARIABLE) {
        let home = PathBuf::from(home);
        if home.parent().and_then(Path::parent) != Some(directory) {
            continue;
        }
        if stock::taken_mark(&home).exists() {
            living.push(home);
        } else {
            tracing::info!(pid = process.pid, "a warm JVM of an earlier control plane is ended");
            process.kill_for_good();
            process.reap();
        }
    }
    for user in entries(directory).filter(|path| path.is_dir()) {
        for home in entries(&user).filter(|home| home.extension().is_none()) {
            if !living.contains(&home) {
                stock::remove(&home);
            }
        }
        let _ = fs::remove_dir(user);
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}
