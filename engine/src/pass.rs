//! One pass over one instance: under a lease, step after step, until there is
//! nothing to do but wait.

use crate::plan::{Step, plan};
use crate::world::World;
use crate::{Engine, backoff};
use cloud::Remedy;
use model::{InstanceId, InstanceProgress, ServerId, SignedDuration, Timestamp};
use std::collections::HashSet;
use std::time::Duration;
use store::{Lease, Work, instances, leases};

/// Longer than any step should take; a worker that hangs loses the instance.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// How long a fault that needs a person is left alone.
const UNTIL_A_PERSON_CAME: Duration = Duration::from_mins(5);

/// Why a pass ended early. Nothing is lost: the next one begins anew.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Pki(#[from] pki::Error),
    #[error("the store holds {0} that can't be read")]
    Document(&'static str),
    #[error("the instance has no {0} authority")]
    NoAuthority(&'static str),
    #[error("no cloud serves region {0}; add it to the catalogue again")]
    NoCloud(model::RegionName),
    #[error("this Castellan can't run Kafka {0}; start the version that could")]
    NoRelease(model::KafkaVersion),
    #[error("plan {0} is not in the catalogue; add it again")]
    NoPlan(model::PlanName),
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Done {
    Progress,
    Wait { reason: String, after: Duration },
    Failed { reason: String, remedy: Remedy },
}

/// A worker's hold on an instance while it works. Dropped without an end, as
/// by a crash, it holds the instance until its lease runs out.
pub struct Pass {
    pub(crate) lease: Lease,
    /// Servers whose agents the cloud has confirmed since the pass began.
    pub(crate) confirmed: HashSet<ServerId>,
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
        let lease = leases::take(&mut work, id, &self.owner, self.clock.now(), LEASE).await?;
        work.commit().await?;
        Ok(lease.map(|lease| Pass { lease, confirmed: HashSet::new() }))
    }

    /// One turn: observe, plan, execute the next step. None while there is more.
    pub async fn turn(&self, pass: &mut Pass) -> Result<Option<Rest>, PassError> {
        let id = pass.lease.instance_id;
        let mut reader = self.store.reader();
        let wakes = instances::wakes(&mut reader, id).await?;
        let Some(mut world) = self.observe(id).await? else { return Ok(Some(Rest::Gone)) };
        if !leases::holds(&mut reader, &pass.lease, self.clock.now()).await? {
            return Err(store::Error::LeaseLost(id).into());
        }
        world.confirmed.clone_from(&pass.confirmed);
        let plan = plan(&world);
        let Some(step) = plan.steps.first() else {
            return self.rest(pass, &world, wakes, plan.wait.reason, plan.wait.after, 0).await;
        };
        tracing::debug!(instance = %id, ?step, "step");
        let done = match self.execute(pass, &world, *step).await {
            Err(PassError::Store(error)) => return Err(error.into()),
            // What is wrong with the instance itself belongs into its status.
            Err(error) => Done::Failed { reason: error.to_string(), remedy: Remedy::GiveUp },
            Ok(done) => done,
        };
        match done {
            Done::Progress => Ok(None),
            Done::Wait { reason, after } => self.rest(pass, &world, wakes, reason, after, 0).await,
            Done::Failed { reason, remedy } => {
                self.rest_after_failure(pass, &world, wakes, *step, &reason, remedy).await
            }
        }
    }

    async fn rest_after_failure(
        &self,
        pass: &mut Pass,
        world: &World,
        wakes: i64,
        step: Step,
        reason: &str,
        remedy: Remedy,
    ) -> Result<Option<Rest>, PassError> {
        let failures = world.instance.progress.failures.saturating_add(1);
        let (after, outlook) = match remedy {
            Remedy::Retry => {
                let after = backoff::after(failures);
                (after, format!("trying again in {} s", after.as_secs()))
            }
            Remedy::GiveUp => (UNTIL_A_PERSON_CAME, "it needs an operator".to_owned()),
        };
        let id = pass.lease.instance_id;
        tracing::warn!(instance = %id, %step, failures, reason, "step failed");
        let sentence = format!("failed to {step}: {reason}; {outlook}");
        self.rest(pass, world, wakes, sentence, after, failures).await
    }

    /// Writes why it rests and when to look again, unless a wake-up came while
    /// it was looking: then it goes on.
    async fn rest(
        &self,
        pass: &mut Pass,
        world: &World,
        wakes: i64,
        status: String,
        after: Duration,
        failures: u32,
    ) -> Result<Option<Rest>, PassError> {
        let now = self.clock.now();
        let id = pass.lease.instance_id;
        let mut work = self.guarded(pass).await?;
        let progress = InstanceProgress { status, failures, ..world.instance.progress.clone() };
        if progress != world.instance.progress {
            tracing::info!(instance = %id, status = progress.status, "status");
            instances::set_progress(&mut work, id, &progress).await?;
        }
        let rests = instances::rest(&mut work, id, wakes, later(now, after)).await?;
        if rests {
            leases::release(&mut work, &pass.lease).await?;
        } else {
            // What the cloud confirmed may be what has just changed.
            pass.confirmed.clear();
        }
        work.commit().await?;
        Ok(rests.then_some(Rest::Until(after)))
    }

    /// A transaction that fails if another worker has the instance.
    pub(crate) async fn guarded(&self, pass: &Pass) -> Result<Work, PassError> {
        let mut work = self.store.begin().await?;
        leases::guard(&mut work, &pass.lease, self.clock.now(), LEASE).await?;
        Ok(work)
    }
}

fn later(now: Timestamp, after: Duration) -> Timestamp {
    SignedDuration::try_from(after)
        .ok()
        .and_then(|after| now.checked_add(after).ok())
        .unwrap_or(now)
}
