//! The data directory: where everything of an installation lies.

use crate::host_dir::{self, remove};
use anyhow::{Context, Result, bail};
use host::{DirLock, LockError};
use model::{Entropy, HostId, OsEntropy, Secret};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Location, MasterKey};

const MASTER_KEY_VARIABLE: &str = "CASTELLAN_MASTER_KEY";
const MASTER_KEY: &str = "master.key";
const BALLAST: &str = wire::agent::STORE_BALLAST;
const SETUP_LOCK: &str = "setup.lock";
/// Where root's data directories are.
const SYSTEM: &str = "/var/lib";
/// Everything that a control plane ever puts into its data directory.
const ENTRIES: [&str; 23] = [
    BALLAST,
    "castellan.db",
    "castellan.db-journal",
    "castellan.db-shm",
    "castellan.db-wal",
    "castellan.db.before-restore",
    "castellan.db.before-restore-shm",
    "castellan.db.before-restore-wal",
    "metrics.db",
    "metrics.db-journal",
    "metrics.db-shm",
    "metrics.db-wal",
    "customer-key",
    "endpoints.json",
    "fleet-ca.pem",
    "host",
    "kcat-ca.pem",
    "kcat.conf",
    "lock",
    "mail",
    MASTER_KEY,
    "outbox",
    SETUP_LOCK,
];

/// With the host's servers, which are in it as a rule.
fn ours() -> impl Iterator<Item = &'static str> {
    ENTRIES.into_iter().chain(host_dir::ENTRIES)
}

/// Those of root's are for uids of instances to pass through.
pub fn make_parents(path: &Path) -> std::io::Result<()> {
    if host::is_root() { host::create_parents(path, 0o711) } else { Ok(()) }
}

/// Paths inside a data directory. Making one touches nothing.
#[derive(Clone, Debug)]
pub struct DataDir(PathBuf);

/// Where the running control plane listens, for commands beside it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Endpoints {
    pub customer: String,
    pub instance: String,
    pub agent: String,
}

macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident = $path:expr;)*) => {
        impl DataDir {
            $($(#[$doc])*
            pub fn $name(&self) -> PathBuf {
                self.0.join($path)
            })*
        }
    };
}

paths! {
    store = "castellan.db";
    /// What the store was before the last restore.
    store_before_restore = "castellan.db.before-restore";
    /// The first account's customer key, for the person who ran `castellan up`.
    customer_key = "customer-key";
    /// What kcat reads to log in to the cluster of `castellan up`.
    kcat_settings = "kcat.conf";
    kcat_ca = "kcat-ca.pem";
    /// Mail that went out as files.
    mail = "mail";
    endpoints = "endpoints.json";
    /// The authority of the agent listener, for the operator's Prometheus.
    fleet_ca = "fleet-ca.pem";
    master_key = MASTER_KEY;
}

impl DataDir {
    pub fn new(path: &Path) -> Result<Self> {
        let path = std::path::absolute(path)
            .with_context(|| format!("{} is no usable path", path.display()))?;
        Ok(Self(path))
    }

    /// Where data lies if nobody says otherwise.
    pub fn default_path() -> PathBuf {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = variable("HOME").map(|home| PathBuf::from(home).join(".local/share"));
        let data = match variable("XDG_DATA_HOME") {
            Some(named) => Some(PathBuf::from(named)),
            // Root's home is closed to the uids of instances. What an earlier release has
            // put there is still found.
            None if host::is_root() => {
                let is_used = |data: &PathBuf| Self(data.join("castellan")).is_in_use();
                home.filter(is_used).or_else(|| Some(SYSTEM.into()))
            }
            None => home,
        };
        data.map_or_else(|| PathBuf::from("castellan-data"), |data| data.join("castellan"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    fn host_id(&self) -> PathBuf {
        self.host().join("host-id")
    }

    /// Whether something of ours lies here.
    pub fn is_in_use(&self) -> bool {
        !self.traces().is_empty()
    }

    /// What shows that a control plane ran here. Where the store is a database and the key
    /// in the environment, that is servers and disks alone.
    pub fn traces(&self) -> Vec<PathBuf> {
        let host = self.host();
        let held = [host.join("servers"), host.join("disks")].into_iter().filter(|room| {
            let mut names = fs::read_dir(room).into_iter().flatten().flatten();
            names.any(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        });
        [self.store(), self.master_key()]
            .into_iter()
            .filter(|path| path.exists())
            .chain(held)
            .collect()
    }

    /// Makes the directory, readable by its owner alone. One that holds other
    /// things is refused: we would lock others out of them, or purge them.
    pub fn create(&self) -> Result<()> {
        if let Some(foreign) = self.foreign_entry() {
            bail!(
                "{} is no data directory of Castellan: it holds {foreign}; \
                 choose an empty or a new one with --data",
                self.0.display()
            );
        }
        make_parents(&self.0).and_then(|()| host::create_private_dir(&self.0)).with_context(
            || {
                format!(
                    "the data directory {} can't be made; choose another with --data",
                    self.0.display()
                )
            },
        )?;
        // Keys and credentials lie here: a directory that was there before
        // must not be open to others either. Uids of instances pass through it.
        let mode = fs::metadata(&self.0)?.permissions().mode() & 0o777;
        if mode & 0o066 != 0 {
            let closed = fs::Permissions::from_mode(mode & 0o711);
            fs::set_permissions(&self.0, closed).with_context(|| {
                format!("{} must belong to you and be private", self.0.display())
            })?;
        }
        Ok(())
    }

    /// Something in the directory that we did not put there.
    fn foreign_entry(&self) -> Option<String> {
        let entries = fs::read_dir(&self.0).ok()?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        // Files under way to their place begin with a dot and our name.
        let is_ours = |name: &String| {
            ours().any(|entry| name == entry || name.starts_with(&format!(".{entry}.")))
        };
        names.into_iter().find(|name| !is_ours(name))
    }

    /// Whether the store is a file in here; else it is a database elsewhere.
    pub fn holds_store(&self) -> bool {
        self.0.join("castellan.db").exists()
    }

    /// Removes everything of ours, and the directory if that leaves it empty.
    /// Whether it did. The key of a database that stays is kept: without it
    /// nobody could read what is in there.
    pub fn purge(&self) -> Result<bool> {
        let keeps_key = !self.holds_store();
        for entry in ours().filter(|entry| !(keeps_key && *entry == MASTER_KEY)) {
            remove(&self.0.join(entry))?;
        }
        Ok(fs::remove_dir(&self.0).is_ok())
    }

    /// Held while keys and store are first made, so that two commands at once
    /// make one of each.
    pub async fn lock_setup(&self) -> Result<DirLock> {
        let directory = self.0.clone();
        tokio::task::spawn_blocking(move || DirLock::take_named(&directory, SETUP_LOCK))
            .await?
            .with_context(|| format!("the data directory {} is not writable", self.0.display()))
    }

    /// Room that is given up when the store has none left.
    pub fn ballast(&self) -> PathBuf {
        self.0.join(BALLAST)
    }

    /// Takes the directory for one control plane.
    pub fn lock(&self) -> Result<DirLock> {
        match DirLock::try_take(&self.0) {
            Err(LockError::Held { holder, .. }) => bail!(
                "the data directory {} is in use by process {holder}; \
                 use that control plane, stop it, or choose another directory with --data",
                self.0.display()
            ),
            other => other.with_context(|| {
                format!("the data directory {} is not writable", self.0.display())
            }),
        }
    }

    /// Which host the servers in the host directory are on. The first time it is
    /// `proposed`, and stays.
    pub fn load_host_id(&self, proposed: HostId) -> Result<HostId> {
        let path = self.host_id();
        if !path.exists() {
            host::write_private(&path, proposed.to_string().as_bytes())
                .with_context(|| format!("{} can't be written", path.display()))?;
        }
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{} can't be read", path.display()))?;
        text.trim().parse().with_context(|| format!("{} holds no host id", path.display()))
    }

    /// Makes an empty store that its owner alone may read; SQLite gives the
    /// files beside it the same mode. One that is there stays.
    pub fn make_store_private(&self) -> Result<()> {
        let mut options = fs::OpenOptions::new();
        options.append(true).create(true).mode(0o600).open(self.store())?;
        Ok(())
    }

    /// The master key from the environment or its file. It is made only while
    /// the store is not set up: a new key could not open an old one.
    pub fn load_master_key(&self, store: &Location, is_set_up: bool) -> Result<MasterKey> {
        let entropy = Arc::new(OsEntropy);
        if let Ok(text) = std::env::var(MASTER_KEY_VARIABLE) {
            return MasterKey::parse(&Secret::new(text), entropy)
                .with_context(|| format!("{MASTER_KEY_VARIABLE} holds no master key"));
        }
        let path = self.master_key();
        if !path.exists() {
            if is_set_up {
                bail!(
                    "the master key {} is missing, and without it the store can't be read \
                     ({store}); put there the one that belongs to it, or set \
                     {MASTER_KEY_VARIABLE}",
                    path.display()
                );
            }
            let key = MasterKey::generate(&*entropy);
            host::write_private(&path, key.expose().as_bytes())
                .with_context(|| format!("the master key {} can't be written", path.display()))?;
        }
        let text = fs::read_to_string(&path)
            .with_context(|| format!("the master key {} can't be read", path.display()))?;
        if fs::metadata(&path)?.permissions().mode() & 0o077 != 0 {
            bail!("others may read the master key; run: chmod 600 {}", path.display());
        }
        MasterKey::parse(&Secret::new(text), entropy)
            .with_context(|| format!("{} holds no master key", path.display()))
    }

    /// The customer key kept for `castellan up`; made and saved before any
    /// account has it, so that a crash can't lose it.
    pub fn load_customer_key(&self) -> Result<Secret> {
        let path = self.customer_key();
        if let Ok(text) = fs::read_to_string(&path) {
            return Ok(Secret::new(text.trim()));
        }
        self.renew_customer_key()
    }

    /// Keeps a new key in place of the one that was kept.
    pub fn renew_customer_key(&self) -> Result<Secret> {
        let path = self.customer_key();
        let key = OsEntropy.key();
        host::write_private(&path, key.expose().as_bytes())
            .with_context(|| format!("{} can't be written", path.display()))?;
        Ok(key)
    }

    pub fn save_endpoints(&self, endpoints: &Endpoints) -> Result<()> {
        let text = serde_json::to_vec_pretty(endpoints).expect("plain data serialises");
        host::write_private(&self.endpoints(), &text).context("endpoints.json can't be written")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test runs itself once more under the umask that we have: it is the whole process's.
    #[tokio::test]
    async fn the_uids_of_instances_pass_through_the_parents_that_root_makes() {
        const INNER: &str = "CASTELLAN_TEST_PARENTS";
        if !host::testing::has_uids() {
            return;
        }
        if let Some(place) = std::env::var_os(INNER).map(PathBuf::from) {
            let data = DataDir::new(&place.join("one/data")).unwrap();
            data.create().unwrap();
            data.settle_host(Some(&place.join("two/host"))).unwrap();
            return;
        }
        let place = host::testing::tempdir();
        let name = "the_uids_of_instances_pass_through_the_parents_that_root_makes";
        let script = format!(
            "umask 077; {INNER}={} exec {} {name}",
            place.path().display(),
            std::env::current_exe().unwrap().display()
        );
        host::run_output(Path::new("/bin/sh"), &["-c", &script], None).await.unwrap();
        for (path, expected) in
            [("one", 0o711), ("one/data", 0o700), ("two", 0o711), ("two/host", 0o700)]
        {
            let mode = fs::metadata(place.path().join(path)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, expected, "{path}");
        }
    }

    #[test]
    fn data_is_found_by_its_servers_where_store_and_key_are_elsewhere() {
        let place = tempfile::tempdir().unwrap();
        let data = DataDir::new(place.path()).unwrap();
        for (entry, expected) in
            [("servers", false), ("disks/.new-1", false), ("servers/7", true), ("disks/1", true)]
        {
            fs::create_dir_all(place.path().join(entry)).unwrap();
            assert_eq!(data.is_in_use(), expected, "{entry}");
        }
    }
}
