//! A server's disk and the one-way road from planned to formatted.

use crate::{DiskId, InstanceId, ServerId, words};
use serde::{Deserialize, Serialize};

/// The bytes of a gigabyte of disk, wherever room on disks is judged.
pub const DISK_GB: u64 = 1 << 30;

/// One disk of one server. It outlives the server's processes and incarnations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disk {
    pub id: DiskId,
    pub instance_id: InstanceId,
    pub server_id: ServerId,
    /// What it shall have.
    pub size_gb: u32,
    /// What the cloud has made of it: less while it is to grow.
    pub made_gb: u32,
    /// Kafka's own id of the log directory on this disk.
    pub directory_id: String,
    /// Formatted as one of the cluster's first, with the initial controllers.
    /// That happens once in a cluster's life: a disk that comes later joins.
    pub founding: bool,
    pub state: DiskState,
}

impl Disk {
    /// Whether the cloud has to make it larger. One that is not made yet is made as large as
    /// it shall be.
    pub fn is_to_grow(&self) -> bool {
        self.state != DiskState::Planned && self.made_gb < self.size_gb
    }

    /// What there is of it now, in bytes.
    pub fn made_bytes(&self) -> u64 {
        u64::from(self.made_gb) * DISK_GB
    }
}

words! {
    /// How far a disk has come. It never moves back: a disk that has been made
    /// and is found missing or empty is lost, not new.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum DiskState {
        /// Chosen and saved; nothing exists yet.
        Planned = "planned",
        /// The cloud has made it and put our marker on it.
        Made = "made",
        /// The agent may format it, once. Entered before the first start.
        Formatting = "formatting",
        /// A broker has been seen running on it. It is never formatted again.
        Formatted = "formatted",
    }
}
