//! The controllers that vote and those that listen, as the active one sees them. Plain data,
//! which planners go by: [`crate::client::Voters`] reads it and changes it.

use model::Timestamp;
use uuid::Uuid;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quorum {
    /// The active controller. None during an election.
    pub leader: Option<i32>,
    pub leader_epoch: i32,
    pub high_watermark: i64,
    pub voters: Vec<Replica>,
    pub observers: Vec<Replica>,
}

impl Quorum {
    /// By how many records a voter is behind the leader; none if not known.
    pub fn lag(&self, voter: i32) -> Option<i64> {
        let voter = self.voters.iter().find(|it| it.id == voter)?;
        self.lag_of(voter)
    }

    /// The same of any copy of the metadata log, an observer's too.
    pub fn lag_of(&self, replica: &Replica) -> Option<i64> {
        let leader = self.voters.iter().find(|it| Some(it.id) == self.leader)?;
        Some(leader.log_end_offset? - replica.log_end_offset?)
    }

    /// Whether this controller votes, with this disk where the release tells of disks.
    pub fn votes(&self, id: i32, directory: Uuid) -> bool {
        let is_it = |it: &Replica| it.directory.is_none_or(|its| its == directory);
        self.voters.iter().any(|it| it.id == id && is_it(it))
    }
}

/// One copy of the metadata log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replica {
    pub id: i32,
    /// The disk it is on. None from releases that don't tell.
    pub directory: Option<Uuid>,
    /// None if the leader does not know.
    pub log_end_offset: Option<i64>,
    /// When the leader last heard from it, and when it last had everything.
    pub last_fetch: Option<Timestamp>,
    pub last_caught_up: Option<Timestamp>,
}
