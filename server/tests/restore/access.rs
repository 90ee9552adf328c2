//! What was revoked since a backup stays so, with the real binary. No cluster is needed.

use crate::{refused, run};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use std::fs;
use std::time::{Duration, Instant};
use test_support::binary;
use test_support::installation::Installation;
use test_support::postgres;

/// Runs the binary, and reads what it prints as JSON.
async fn printed(at: &[&str], arguments: &[&str]) -> Value {
    let arguments = [arguments, at, &["--json"]].concat();
    let output = host::run_output(&binary(), &arguments, None).await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

struct Key {
    id: String,
    secret: String,
}

async fn new_key(at: &[&str]) -> Key {
    let made = printed(at, &["key", "create", "t@x.test"]).await;
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    Key { id: text("id"), secret: text("apikey") }
}

/// What calls with these keys answer.
async fn statuses<const N: usize>(castellan: &mut Installation, keys: [&str; N]) -> [u16; N] {
    let own = castellan.key.clone();
    let mut statuses = [0; N];
    for (status, key) in statuses.iter_mut().zip(keys) {
        key.clone_into(&mut castellan.key);
        *status = castellan.get("/api/plans").await.0;
    }
    castellan.key = own;
    statuses
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_revives_no_key() {
    let mut castellan = Installation::start().await;
    let (data, owner) = (castellan.data(), castellan.key.clone());
    let at = ["--data", data.to_str().unwrap()];
    let (stolen, other) = (new_key(&at).await, new_key(&at).await);
    let backups = host::testing::tempdir();
    let file = backups.path().join("castellan.backup");
    let file = file.to_str().unwrap();
    run(&castellan, &["backup", file]).await;
    let keys = [owner.as_str(), stolen.secret.as_str(), other.secret.as_str()];
    assert_eq!(statuses(&mut castellan, keys).await, [200, 200, 200]);
    run(&castellan, &["key", "revoke", &stolen.id]).await;
    let since = new_key(&at).await;

    castellan.kill_control_plane().await;
    let said = run(&castellan, &["restore", file]).await;
    assert!(said.contains("1 customer keys, 0 users and 0 invitations stay revoked"), "{said}");
    castellan.serve().await;
    assert_eq!(statuses(&mut castellan, keys).await, [200, 401, 200]);
    assert_eq!(statuses(&mut castellan, [&since.secret]).await, [200], "it was made since");

    // Nothing says what was revoked.
    castellan.kill_control_plane().await;
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(data.join(format!("castellan.db{suffix}")));
    }
    fs::write(data.join("castellan.db"), "broken from the first byte on ".repeat(10)).unwrap();
    let unknown = ["restore", file, "--force", "--keep-key", since.id.as_str()];
    let said = refused(&castellan, &unknown).await;
    assert!(said.contains(&format!("it has no key {}", since.id)), "{said}");
    let said = run(&castellan, &["restore", file, "--force", "--keep-key", &other.id]).await;
    assert!(said.contains("nothing says what was revoked since that backup"), "{said}");
    assert!(said.contains("2 customer keys are revoked"), "{said}");
    assert!(said.contains("castellan key create <e-mail>"), "{said}");
    assert!(said.contains(&stolen.id) && !said.contains(&other.id), "{said}");
    castellan.serve().await;
    assert_eq!(statuses(&mut castellan, keys).await, [401, 401, 200]);
    let new = new_key(&at).await;
    assert_eq!(statuses(&mut castellan, [&new.secret]).await, [200]);

    // The one that was forgotten then can be kept by another restore.
    castellan.kill_control_plane().await;
    run(&castellan, &["restore", file, "--force", "--keep-key", &stolen.id]).await;
    castellan.serve().await;
    assert_eq!(statuses(&mut castellan, keys).await, [401, 200, 200]);
    castellan.purge().await;
}

/// As pg_dump and pg_restore would, once nobody is connected any more.
async fn copy_database(from: &str, to: &str) -> String {
    let mut server = PgConnection::connect(&postgres::url("secret", "postgres")).await.unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    let copy = format!("CREATE DATABASE {to} TEMPLATE {from}");
    while let Err(error) = server.execute(AssertSqlSafe(copy.clone())).await {
        assert!(Instant::now() < deadline, "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.close().await.unwrap();
    postgres::url("secret", to)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_database_revives_no_key() {
    let directory = host::testing::tempdir();
    let data = directory.path().join("data");
    let old = postgres::database().await.expose().to_owned();
    let name = old.rsplit('/').next().unwrap();
    let on =
        |url: &str| ["--data", data.to_str().unwrap(), "--database-url", url].map(String::from);
    let castellan = async |url: &str, arguments: &[&str]| -> Result<String, String> {
        let at = on(url);
        let at: Vec<&str> = at.iter().map(String::as_str).collect();
        let arguments = [arguments, at.as_slice()].concat();
        let output = host::run_output(&binary(), &arguments, None).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if output.status.success() { Ok(said) } else { Err(said) }
    };
    let list = async |url: &str| -> Vec<String> {
        let at = on(url);
        let at: Vec<&str> = at.iter().map(String::as_str).collect();
        let keys = printed(&at, &["key", "list", "--all"]).await;
        keys.as_array().unwrap().iter().map(|key| key["id"].as_str().unwrap().into()).collect()
    };
    castellan(&old, &["account", "create", "--email", "t@x.test"]).await.unwrap();
    let at = on(&old);
    let at: Vec<&str> = at.iter().map(String::as_str).collect();
    let stolen = new_key(&at).await;
    let before = list(&old).await;
    assert_eq!(before.len(), 2);
    let first = copy_database(name, &format!("{name}_first")).await;
    let second = copy_database(name, &format!("{name}_second")).await;
    castellan(&old, &["key", "revoke", &stolen.id]).await.unwrap();

    let refused = castellan(&first, &["restore", "dump"]).await.unwrap_err();
    assert!(refused.contains("pg_restore") && refused.contains("--old-database-url"), "{refused}");
    let refused = castellan(&first, &["restore"]).await.unwrap_err();
    assert!(refused.contains("say --yes"), "{refused}");
    let same = castellan(&first, &["restore", "--old-database-url", &first]).await.unwrap_err();
    assert!(same.contains("must name the database before"), "{same}");
    let empty = postgres::database().await.expose().to_owned();
    let nothing = castellan(&empty, &["restore", "--yes"]).await.unwrap_err();
    assert!(nothing.contains("holds no installation"), "{nothing}");
    let nothing = castellan(&first, &["restore", "--old-database-url", &empty]).await.unwrap_err();
    assert!(nothing.contains("the database before holds no installation"), "{nothing}");
    assert_eq!(list(&first).await, before, "nothing was changed");

    let said = castellan(&first, &["restore", "--old-database-url", &old]).await.unwrap();
    assert!(said.contains("1 customer keys"), "{said}");
    let left: Vec<String> = before.into_iter().filter(|id| *id != stolen.id).collect();
    assert_eq!(list(&first).await, left);

    let said = castellan(&second, &["restore", "--yes", "--keep-key", &stolen.id]).await.unwrap();
    assert!(said.contains("1 customer keys are revoked"), "{said}");
    assert_eq!(list(&second).await, [stolen.id]);
}
