//! What a backup and a restore refuse, and that nothing changes then. No
//! cluster is needed for that, and no control plane.

use host::DirLock;
use sqlx::{Connection as _, Executor as _, Row as _, SqliteConnection};
use std::fs;
use std::path::{Path, PathBuf};
use test_support::binary;

struct Stopped {
    directory: tempfile::TempDir,
}

impl Stopped {
    async fn new() -> Self {
        let it = Self { directory: host::testing::tempdir() };
        it.run(&["account", "create", "--email", "t@x.test"]).await.unwrap();
        it
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    async fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let data = self.data();
        let arguments = [arguments, &["--data", data.to_str().unwrap()]].concat();
        let output = host::run_output(&binary(), &arguments, None).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if output.status.success() { Ok(said) } else { Err(said) }
    }

    async fn back_up(&self) -> String {
        let file = self.path("backup");
        self.run(&["backup", &file]).await.unwrap();
        file
    }

    async fn refuses(&self, arguments: &[&str], expected: &str) {
        let before = (self.entries(), epoch(&self.data()).await);
        let said = self.run(arguments).await.unwrap_err();
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert_eq!((self.entries(), epoch(&self.data()).await), before, "{arguments:?}");
    }

    /// What lies in the data directory, without locks and SQLite's logs, which
    /// come and go.
    fn entries(&self) -> Vec<String> {
        let entries = fs::read_dir(self.data()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let passing = |name: &String| {
            ["castellan.db-wal", "castellan.db-shm", "lock"].contains(&name.as_str())
        };
        let mut names: Vec<String> = names.filter(|name| !passing(name)).collect();
        names.sort();
        names
    }
}

async fn epoch(data: &Path) -> i64 {
    let mut store = open(&data.join("castellan.db")).await;
    let row = store.fetch_one("SELECT store_epoch FROM installation").await.unwrap();
    row.get("store_epoch")
}

async fn open(path: &Path) -> SqliteConnection {
    SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap()
}

#[tokio::test]
async fn a_backup_is_refused_where_it_would_not_help() {
    let it = Stopped::new().await;
    let inside = it.data().join("backup").to_str().unwrap().to_owned();
    it.refuses(&["backup", &inside], "inside the data directory").await;
    it.refuses(&["backup", &it.path("none/backup")], "can't be used").await;
    let url = "postgres://nobody@127.0.0.1:1/none";
    it.refuses(&["backup", &it.path("b"), "--database-url", url], "pg_dump").await;
    it.refuses(&["restore", &it.path("b"), "--database-url", url], "pg_restore").await;
    it.refuses(&["restore"], "name the file to restore").await;
}

#[tokio::test]
async fn a_restore_takes_its_own_installations_backup_alone() {
    let (it, other) = (Stopped::new().await, Stopped::new().await);
    let text = it.path("text");
    fs::write(&text, "words, and more of them than the header of a database has bytes; so many that it must be looked at").unwrap();
    it.refuses(&["restore", &text], "is no store of Castellan").await;
    it.refuses(&["restore", &it.path("absent")], "absent").await;

    let foreign = other.back_up().await;
    it.refuses(&["restore", &foreign], "sealed with master key").await;
    fs::copy(other.data().join("master.key"), it.data().join("master.key")).unwrap();
    it.refuses(&["restore", &foreign], "is of installation").await;

    let newer = other.back_up_of_a_later_release().await;
    other.refuses(&["restore", &newer], "newer Castellan").await;
    let _control_plane = DirLock::try_take(&other.data()).unwrap();
    other.refuses(&["restore", &foreign], "needs the control plane stopped").await;
    other.refuses(&["orphans", "remove", "server/1", "--yes"], "needs the control plane").await;
}

impl Stopped {
    async fn back_up_of_a_later_release(&self) -> String {
        let file = self.path("newer");
        self.run(&["backup", &file]).await.unwrap();
        let later = "INSERT INTO _sqlx_migrations \
             (version, description, success, checksum, execution_time) \
             SELECT 9999, 'later', TRUE, checksum, 0 FROM _sqlx_migrations WHERE version = 1";
        open(Path::new(&file)).await.execute(later).await.unwrap();
        file
    }
}

#[tokio::test]
async fn a_store_that_is_lost_or_broken_is_restored_too() {
    let it = Stopped::new().await;
    let file = it.back_up().await;
    let store = it.data().join("castellan.db");
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(it.data().join(format!("castellan.db{suffix}")));
    }
    let said = it.run(&["engine", "status"]).await.unwrap_err();
    assert!(said.contains("there is no store"), "{said}");
    let said = it.run(&["restore", &file]).await.unwrap();
    assert!(!said.contains("invoice_numbers"), "{said}");
    let first = epoch(&it.data()).await;
    assert!(first > 1);

    fs::write(&store, "broken, as after a fault of the disk that it was on, from the first byte on and to the last of them all").unwrap();
    let said = it.run(&["restore", &file]).await.unwrap();
    assert!(said.contains("can't be read and is kept"), "{said}");
    // Whatever that store had given out is not given again.
    assert!(said.contains("invoice_numbers"), "{said}");
    let least = "SELECT MIN(value) AS least FROM sequences WHERE name <> 'invoice_numbers'";
    let least = open(&store).await.fetch_one(least).await.unwrap();
    assert!(least.get::<i64, _>("least") > 1_000_000);
    let kept = fs::read_to_string(it.data().join("castellan.db.before-restore")).unwrap();
    assert!(kept.starts_with("broken"));
    assert!(epoch(&it.data()).await >= first);
    it.run(&["engine", "pause", "7"]).await.unwrap_err();
    it.run(&["engine", "pause"]).await.unwrap();
}
