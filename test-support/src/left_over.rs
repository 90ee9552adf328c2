//! What an installation holds of its instances: processes, files, addresses
//! and rows. Taken before a create and after a delete, the two must be equal.

use crate::installation::Installation;
use serde_json::Value;
use sqlx::Row as _;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Tables that keep what happened, what an account has used up, or numbers that must not
/// be reused.
const KEPT: [&str; 7] = [
    "audit",
    "audit_chains",
    "audit_spent",
    "instance_history",
    "send_counts",
    "sequences",
    "_sqlx_migrations",
];

#[derive(PartialEq, Eq, Debug)]
pub struct LeftOver {
    processes: Vec<i32>,
    files: Vec<String>,
    rows: BTreeMap<String, i64>,
}

impl LeftOver {
    pub async fn of(castellan: &Installation) -> Self {
        let running = cloud_local::running(&castellan.data()).unwrap();
        let processes = running
            .iter()
            .flat_map(|server| server.agent.iter().chain(&server.brokers))
            .map(|process| process.pid)
            .chain(processes_of("CASTELLAN_SERVER", &castellan.data()))
            .collect();
        let files = ["servers", "disks", "networks", "fences", "groups", "uids"]
            .into_iter()
            .filter_map(|name| fs::read_dir(castellan.data().join(name)).ok())
            .flatten()
            .map(|entry| entry.unwrap().path().display().to_string())
            // Which uid was chosen last outlives what had it.
            .filter(|path| !path.ends_with("uids/last") && !path.ends_with("uids/lock"))
            .collect();
        let mut counted = BTreeMap::new();
        for table in tables(castellan).await {
            if !KEPT.contains(&table.as_str()) {
                counted.insert(table.clone(), rows(castellan, &table).await);
            }
        }
        Self { processes, files, rows: counted }
    }
}

/// Processes that carry the mark of a server under this data directory,
/// whatever any file says.
pub fn processes_of(mark: &str, data: &Path) -> Vec<i32> {
    let mark = format!("{mark}={}/", data.display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(&mark) {
            found.push(pid);
        }
    }
    found
}

/// What each server's agent last said, and when it was last heard.
pub async fn reports(castellan: &Installation) -> Vec<(Value, i64)> {
    let query = sqlx::query("SELECT report, last_seen FROM servers ORDER BY id");
    let rows = query.fetch_all(&open(castellan).await).await.unwrap();
    let read = |row: &sqlx::sqlite::SqliteRow| {
        let report: Option<String> = row.get("report");
        let report = report.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
        (report, row.get::<Option<i64>, _>("last_seen").unwrap_or_default())
    };
    rows.iter().map(read).collect()
}

async fn open(castellan: &Installation) -> sqlx::SqlitePool {
    let file = castellan.data().join("castellan.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file).read_only(true);
    sqlx::SqlitePool::connect_with(options).await.unwrap()
}

async fn tables(castellan: &Installation) -> Vec<String> {
    let pool = open(castellan).await;
    let query = sqlx::query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    let rows = query.fetch_all(&pool).await.unwrap();
    rows.iter().map(|row| row.get("name")).collect()
}

pub async fn rows(castellan: &Installation, table: &str) -> i64 {
    let pool = open(castellan).await;
    let sql = format!("SELECT COUNT(*) AS count FROM {table}");
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_one(&pool).await.unwrap();
    row.get("count")
}
