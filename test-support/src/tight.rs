//! One server's disk on a small file system of its own, so that it can run full
//! and the others don't. It is put there and taken back while its broker is
//! stopped, with all that is on it.

use crate::installation::Installation;
use faults::{Fault, SmallDisk};
use serde_json::{Value, json};

/// Enough for what these tests write, and for a start.
const BYTES: u64 = 192 << 20;

/// Taken back when dropped, but without what was written meanwhile: for a test
/// that fails.
pub struct Tight {
    pub server: usize,
    disk: SmallDisk,
}

impl Tight {
    /// None where this user may not mount; it says so.
    pub async fn put(castellan: &Installation, instance: &Value, server: usize) -> Option<Self> {
        Self::put_on(castellan, instance, server, BYTES).await
    }

    /// The same, on a disk of so many bytes.
    pub async fn put_on(
        castellan: &Installation,
        instance: &Value,
        server: usize,
        bytes: u64,
    ) -> Option<Self> {
        switch(castellan, instance, server, "stop").await;
        // It is a small part of a large disk, and more than a small one has.
        let _ = std::fs::remove_file(castellan.disk(server).join("ballast"));
        let made = SmallDisk::instead_of(&castellan.disk(server), bytes);
        switch(castellan, instance, server, "start").await;
        SmallDisk::if_allowed(made).map(|disk| Self { server, disk })
    }

    /// Takes all of its room.
    pub fn filled(&self) -> Fault {
        Fault::FullDisk(self.disk.path().into())
    }

    /// Takes its room but for so many bytes.
    pub fn filling(&self, left: u64) -> Fault {
        Fault::FillDisk { directory: self.disk.path().into(), left }
    }

    pub async fn take_back(self, castellan: &Installation, instance: &Value) {
        switch(castellan, instance, self.server, "stop").await;
        self.disk.give_back().unwrap();
        switch(castellan, instance, self.server, "start").await;
    }
}

/// Stops or starts its broker alone, and waits until that is so.
pub async fn switch(castellan: &Installation, instance: &Value, server: usize, verb: &str) {
    let id = instance["id"].as_i64().unwrap();
    let name = format!("{}-{:02}", instance["username"].as_str().unwrap(), server + 1);
    let path = format!("/api/instances/{id}/actions/{verb}");
    let body = json!({ "nodes": [name] });
    let (status, answer) = castellan.post(&path, &body).await;
    assert_eq!(status, 200, "{answer}");
    let done = match verb {
        "stop" => format!("running, but for server {}, stopped as asked", server + 1),
        _ => "running".to_owned(),
    };
    castellan
        .until(&done, async || {
            let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
            let (_, now) = castellan.get(&format!("/api/instances/{id}")).await;
            let is_done = cluster["configured"] == true && now["status"] == done;
            if is_done { Ok(()) } else { Err(now["status"].to_string()) }
        })
        .await;
}
