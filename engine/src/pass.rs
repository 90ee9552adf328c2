//! One pass over one instance: under a lease, step after step, until there is
//! nothing to do but wait.

use crate::Engine;
use crate::plan::Wait;
use crate::world::{Placed, World};
use cloud::Remedy;
use kafka::safety::Look;
use model::condition::{Note, since_when};
use model::{
    Condition, Instance, InstanceId, InstanceProgress, Reason, ServerId, SignedDuration, Timestamp,
};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::{Lease, Work, actions, instances, leases};

/// Why a pass ended early. Nothing is lost: the next one begins anew.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Pki(#[from] pki::Error),
    #[error(transparent)]
    Reach(reach::Error),
    #[error("no cloud serves region {0}; add it to the catalogue again")]
    NoCloud(model::RegionName),
    #[error("this Castellan can't run Kafka {0}; start the version that could")]
    NoRelease(model::KafkaVersion),
    #[error("plan {0} is not in the catalogue; add it again")]
    NoPlan(model::PlanName),
}

impl From<reach::Error> for PassError {
    fn from(error: reach::Error) -> Self {
        match error {
            reach::Error::Store(error) => Self::Store(error),
            other => Self::Reach(other),
        }
    }
}

/// How a pass ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rest {
    /// Another worker has it.
    NotOurs,
    /// It is gone for good.
    Gone,
    /// Nothing to do before this long has passed, or a wake-up comes.
    Until(Duration),
}

/// What became of a step.
#[derive(Clone, Debug)]
pub(crate) enum Done {
    Progress,
    /// Kafka is another now: what its brokers said before is past.
    Changed,
    /// Where replicas are; good until the pass rests, or changes that.
    Placed(Arc<Placed>),
    /// What the brokers said; good until the pass rests.
    Looked(Box<Look>),
    /// The error of a look in which no broker described the quorum; as good for as long.
    LookFailed(String),
    /// Kafka gave this server none of the leaders back that it should have.
    LeadersRefused(ServerId),
    Wait {
        reason: Reason,
        after: Duration,
    },
    Failed {
        reason: String,
        remedy: Remedy,
    },
}

/// A worker's hold on an instance while it works. Dropped without an end, as
/// by a crash, it holds the instance until its lease runs out.
pub struct Pass {
    pub(crate) lease: Lease,
    /// What an earlier owner still has in mind is refused everywhere.
    pub(crate) is_fenced: bool,
    /// Servers whose agents the cloud has confirmed since the pass began.
    pub(crate) confirmed: HashSet<ServerId>,
    /// What the brokers said in this pass.
    pub(crate) look: Option<Look>,
    /// Where replicas are.
    pub(crate) placed: Option<Arc<Placed>>,
    /// The error of the look, if no broker described the quorum.
    pub(crate) look_failed: Option<String>,
    /// Servers that got none of their leaders back.
    pub(crate) leaders_refused: HashSet<ServerId>,
    /// Lanes that can't go on in this pass, and why.
    pub(crate) resting: BTreeMap<Option<ServerId>, Resting>,
    /// Password and settings may have been written into Kafka, and nothing has shown
    /// since that the instance was ours by then.
    pub(crate) kafka_written: AtomicBool,
}

impl Pass {
    /// The proof that the instance is this worker's, while it holds.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }
}

/// Why a lane rests.
#[derive(Clone, Debug)]
pub(crate) struct Resting {
    pub condition: Condition,
    pub after: Duration,
    pub failed: bool,
}

impl Engine {
    /// Works on an instance until there is nothing to do but wait.
    pub async fn pass(&self, id: InstanceId) -> Result<Rest, PassError> {
        let Some(mut pass) = self.begin_pass(id).await? else {
            let gone = instances::find(&mut self.store.reader(), id).await?.is_none();
            return Ok(if gone { Rest::Gone } else { Rest::NotOurs });
        };
        loop {
            if let Some(rest) = self.turn(&mut pass).await? {
                return Ok(rest);
            }
        }
    }

    /// Takes the instance. None if another worker has it, or it is gone.
    pub async fn begin_pass(&self, id: InstanceId) -> Result<Option<Pass>, PassError> {
        let mut work = self.store.begin().await?;
        let (now, life) = (self.clock.now(), self.settings.lease);
        let lease = leases::take(&mut work, id, &self.owner, now, life).await?;
        work.commit().await?;
        Ok(lease.map(|lease| Pass {
            is_fenced: !lease.taken_over,
            lease,
            confirmed: HashSet::new(),
            look: None,
            placed: None,
            look_failed: None,
            leaders_refused: HashSet::new(),
            resting: BTreeMap::new(),
            kafka_written: AtomicBool::new(false),
        }))
    }

    /// Writes why it rests and when to look again, unless a wake-up came while
    /// it was looking: then it goes on.
    pub(crate) async fn rest(
        &self,
        pass: &mut Pass,
        world: &World,
        wakes: i64,
        wait: Wait,
    ) -> Result<Option<Rest>, PassError> {
        let now = self.clock.now();
        let id = pass.lease.instance_id;
        let Wait { conditions, after } = wait;
        let earlier = &world.instance.progress;
        let failed = pass.resting.values().any(|resting| resting.failed);
        let failures = if failed { earlier.failures.saturating_add(1) } else { 0 };
        self.seen_to_rest().await;
        let mut work = self.guarded(pass).await?;
        let dated = since_when(conditions.clone(), &earlier.conditions, now);
        let progress = InstanceProgress { conditions: dated, failures, ..earlier.clone() };
        let rests = instances::rest(&mut work, id, wakes, later(now, after)).await?;
        let holds = rests || {
            let now = instances::find(&mut work, id).await?;
            now.is_some_and(|now| !is_past(&now, &world.instance))
        };
        if progress != world.instance.progress && holds {
            tracing::info!(instance = %id, status = progress.status(), "status");
            instances::set_progress(&mut work, id, &progress).await?;
            let note = Note::Conditions { conditions };
            for action in actions::open(&mut work, id).await? {
                actions::note_on(&mut work, action.id, &note, now).await?;
            }
        }
        if rests {
            leases::release(&mut work, &pass.lease).await?;
        } else {
            // What the cloud confirmed, or what a lane rests for, may be what
            // has just changed.
            pass.confirmed.clear();
            (pass.look, pass.placed, pass.look_failed) = (None, None, None);
            pass.leaders_refused.clear();
            pass.resting.clear();
        }
        work.commit().await?;
        Ok(rests.then_some(Rest::Until(after)))
    }

    /// Fails if another worker has the instance. Comes right before every
    /// effect outside the store, which no transaction can guard. A worker that
    /// stands still between this look and the effect is refused by the cloud.
    pub(crate) async fn look_at_lease(&self, pass: &Pass) -> Result<(), PassError> {
        let mut reader = self.store.reader();
        if leases::holds(&mut reader, &pass.lease, self.clock.now()).await? {
            Ok(())
        } else {
            Err(store::Error::LeaseLost(pass.lease.instance_id).into())
        }
    }

    /// A transaction that fails if another worker has the instance.
    pub(crate) async fn guarded(&self, pass: &Pass) -> Result<Work, PassError> {
        let mut work = self.store.begin().await?;
        leases::guard(&mut work, &pass.lease, self.clock.now(), self.settings.lease).await?;
        Ok(work)
    }
}

/// Whether something was asked or taken back since an instance was looked at: its status
/// says that, and what was seen before would say the contrary until the next look is over.
pub(crate) fn is_past(now: &Instance, seen: &Instance) -> bool {
    now.progress.revision != seen.progress.revision
}

fn later(now: Timestamp, after: Duration) -> Timestamp {
    SignedDuration::try_from(after)
        .ok()
        .and_then(|after| now.checked_add(after).ok())
        .unwrap_or(now)
}
