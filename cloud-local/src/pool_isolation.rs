//! How the processes of this host's pool are kept apart from instances while they wait for a
//! server: a directory of their own, a uid that no instance has yet, and the control group of
//! the server that gets one. This cloud does not know what the processes do.

use crate::layout::Layout;
use crate::uids::Uids;
use crate::{LocalError, limits, servers};
use host::{Group, ProcessId};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct PoolIsolation {
    layout: Layout,
    uids: Option<Uids>,
}

impl PoolIsolation {
    /// On the host whose servers are in that directory, with the uids of [`crate::Options`].
    pub fn open(data_dir: &Path, uids: Option<RangeInclusive<u32>>) -> Result<Self, LocalError> {
        let layout = Layout::make(data_dir)?;
        let uids = uids.map(|range| Uids::new(&layout, range));
        Ok(Self { layout, uids })
    }

    pub fn directory(&self) -> PathBuf {
        self.layout.pool()
    }

    /// The uid that the next instance gets; none if all share ours. Blocks for a moment.
    pub fn reserve_uid(&self) -> Result<Option<u32>, LocalError> {
        self.uids.as_ref().map(Uids::reserve).transpose()
    }

    /// To be called when no process has the reserved uid any more.
    pub fn drop_reservation(&self) -> Result<(), LocalError> {
        self.uids.as_ref().map_or(Ok(()), Uids::drop_reservation)
    }

    /// Whether this uid is reserved and no instance has got it yet.
    pub fn is_reserved(&self, uid: u32) -> bool {
        self.uids.as_ref().is_some_and(|uids| uids.is_reserved(uid))
    }

    /// Puts a process into the group of the server whose agent has that pid, if it has one.
    pub fn enter_group(&self, agent: i32, process: &ProcessId) -> Result<(), LocalError> {
        for (server, directory) in self.layout.servers()? {
            let is_agent = |found: ProcessId| found.pid == agent;
            if servers::live_agent(&directory).is_some_and(is_agent) {
                let group = limits::load(&self.layout, server).filter(Group::is_there);
                let entered = group.map_or(Ok(()), |group| group.add(process));
                return entered.map_err(LocalError::at(&directory));
            }
        }
        Err(LocalError::NoAgent { pid: agent })
    }
}
