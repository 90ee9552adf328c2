//! What to do next, as pure code: from a world to an ordered list of steps.
//!
//! Planning never does I/O and never looks at anything but the world, so every
//! plan can be tested with a table.

mod grow;
mod provision;
mod remove;
mod renewal;
mod resize;
mod roll;
mod run;
pub(crate) mod sizing;
mod stop;
mod waits;

use crate::world::World;
use model::{Condition, DiskId, Reason, ServerId};
use std::fmt;
use std::time::Duration;

/// One idempotent piece of work. It names what it owns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Has the cloud refuse effects of the lease before.
    TakeOver,
    MakeNetwork,
    MakeDisk(DiskId),
    /// Has the cloud make the disk as large as it shall be, while its broker runs on.
    GrowDisk(DiskId),
    /// Has the server exist and its agent run.
    EnsureServer(ServerId),
    /// Renders the broker's configuration and keeps it.
    Render(ServerId),
    /// Lets the agent format the disk, once.
    AllowFormat(DiskId),
    /// Asks the agent for new keys, whose certificates replace those that near their end.
    RenewCertificates(ServerId),
    IssueCertificates(ServerId),
    /// Tells the agent what its server shall be.
    Publish(ServerId),
    /// The broker has been seen on the disk: it is never formatted again.
    SealFormat(DiskId),
    SetCredentials,
    CheckLogin,
    /// Asks every broker what it has in its memory.
    Look,
    /// Gives a server some of the leaders back that it handed to others when it stopped.
    ReturnLeaders(ServerId),

    /// Asks where all replicas are, and who votes.
    Place,
    AddVoter(ServerId),
    RemoveVoter(ServerId),
    /// Leaving brokers get no new replicas from now on, all others do.
    Cordon,
    /// Sets the cluster's min ISR to so many.
    SetMinIsr(u32),
    /// Saves how many replicas topics have that get fewer.
    NoteReplicas,
    /// What the mover says: a batch of replicas, a few leaders, or what has to come before.
    Move,
    /// Has what is copied go faster or slower.
    AdjustThrottle,
    /// A topic has its own min ISR again, which was lowered to clear its ELR.
    EndMending,
    /// Topics have their own min ISR again, because the change is undone.
    PutBackMinIsr,
    EndThrottles,
    /// Has the servers that stay restarted with settings for the new number of servers.
    RestartStaying,
    /// From here on the change can't be cancelled.
    BeginRemoving,
    /// Has the brokers of leaving servers stop, which are empty.
    StopLeaving,
    /// Starts the broker of a leaving server again: it has replicas that no other broker has.
    StartLeaving(ServerId),
    /// Has Kafka forget its broker, and removes it with its disk.
    RemoveLeaving(ServerId),
    /// Joining servers are members.
    EndResize,

    /// Everything asked for has been reached, and that is noted.
    Reach,
    /// Customers are told before the first broker stops.
    NoteStopping,
    /// Lets an agent of the instance, or every one, stop its broker, for some
    /// seconds.
    OpenTicket(Option<ServerId>),
    /// Nothing shall stop any more, or all that should has.
    CloseTicket,
    /// The broker has stopped: nothing of the server shall run, its disk stays.
    Hibernate(ServerId),
    /// No server runs any more, as was asked for.
    NoteStopped,

    /// With its disk and all data on it.
    RemoveServer(ServerId),
    /// The network, if no other instance uses it, and the last rows.
    Forget,
}

impl fmt::Display for Step {
    /// What it does, in words that complete "Failed to …".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::TakeOver => f.write_str("take the instance over"),
            Step::MakeNetwork => f.write_str("make the network"),
            Step::MakeDisk(disk) => write!(f, "make disk {disk}"),
            Step::GrowDisk(disk) => write!(f, "make disk {disk} larger"),
            Step::EnsureServer(server) => write!(f, "start the agent of server {server}"),
            Step::Render(server) => write!(f, "render the configuration of server {server}"),
            Step::AllowFormat(disk) => write!(f, "release disk {disk} for formatting"),
            Step::RenewCertificates(server) => {
                write!(f, "begin the renewal of the certificates of server {server}")
            }
            Step::IssueCertificates(server) => write!(f, "issue certificates to server {server}"),
            Step::Publish(server) => write!(f, "tell the agent of server {server} what to do"),
            Step::SealFormat(disk) => write!(f, "seal disk {disk} against formatting"),
            Step::SetCredentials => f.write_str("set the default user's password and rights"),
            Step::CheckLogin => f.write_str("log in as the default user"),
            Step::Look => f.write_str("look at the brokers"),
            Step::ReturnLeaders(server) => write!(f, "give leaders back to server {server}"),
            Step::Place => f.write_str("find out where replicas are"),
            Step::AddVoter(server) => write!(f, "give a vote to the controller of server {server}"),
            Step::RemoveVoter(server) => {
                write!(f, "take the vote of the controller of server {server}")
            }
            Step::Cordon => f.write_str("keep new replicas off leaving servers"),
            Step::SetMinIsr(to) => write!(f, "set the cluster's min ISR to {to}"),
            Step::NoteReplicas => f.write_str("note how many replicas topics have"),
            Step::Move => f.write_str("move replicas"),
            Step::AdjustThrottle => f.write_str("change the throttle of moving replicas"),
            Step::EndMending | Step::PutBackMinIsr => {
                f.write_str("give topics their own min ISR again")
            }
            Step::EndThrottles => f.write_str("end the throttles of moving replicas"),
            Step::RestartStaying => f.write_str("have servers that stay restarted"),
            Step::BeginRemoving => f.write_str("begin to remove servers"),
            Step::StopLeaving => f.write_str("have leaving servers stop"),
            Step::StartLeaving(server) => write!(f, "have leaving server {server} run again"),
            Step::EndResize => f.write_str("note that servers have joined or left"),
            Step::Reach => f.write_str("note that all that was asked for is reached"),
            Step::NoteStopping => f.write_str("note that the servers stop"),
            Step::OpenTicket(None) => f.write_str("open the ticket to stop"),
            Step::OpenTicket(Some(server)) => write!(f, "open the ticket to stop server {server}"),
            Step::CloseTicket => f.write_str("close the ticket to stop"),
            Step::Hibernate(server) => write!(f, "end the agent of server {server}"),
            Step::NoteStopped => f.write_str("note that every server is stopped"),
            Step::RemoveLeaving(server) | Step::RemoveServer(server) => {
                write!(f, "remove server {server}")
            }
            Step::Forget => f.write_str("remove the network"),
        }
    }
}

/// What there is to do, and what to say when there is nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Work that goes on side by side: a server that can't go on does not keep
    /// the others waiting.
    pub lanes: Vec<Lane>,
    pub wait: Wait,
}

/// Steps in order. Only the first of each lane is executed before the world is
/// looked at anew.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// None: the instance as a whole.
    pub server: Option<ServerId>,
    pub steps: Vec<Step>,
}

impl Plan {
    /// A plan for the instance as a whole.
    fn whole(steps: Vec<Step>, wait: Wait) -> Self {
        Self { lanes: vec![Lane { server: None, steps }], wait }
    }

    fn has_step(&self) -> bool {
        self.lanes.iter().any(|lane| !lane.steps.is_empty())
    }
}

/// Why nothing can be done right now, and when to look again if nothing happens before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    pub conditions: Vec<Condition>,
    pub after: Duration,
}

impl Wait {
    pub fn new(condition: impl Into<Condition>, after: Duration) -> Self {
        Self { conditions: vec![condition.into()], after }
    }
}

/// Something will tell us; this is only for when it gets lost.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// A healthy instance is looked at this often.
const LOOK_AT_HEALTHY: Duration = Duration::from_secs(30);

pub fn plan(world: &World) -> Plan {
    if !world.is_fenced {
        return Plan::whole(vec![Step::TakeOver], Wait::new(Reason::TakingOver, LOOK_AGAIN));
    }
    if world.instance.deleted_at.is_some() {
        return remove::plan(world);
    }
    if world.instance.stopped {
        return stop::plan(world);
    }
    grow::with_disks(world, run::plan(world))
}

#[cfg(test)]
mod tests;
