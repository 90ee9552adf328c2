//! One turn of a pass: observe, plan, execute the first step of every lane side
//! by side, and note which of them can't go on.

use crate::observe::Observed;
use crate::pass::{Done, Pass, PassError, Rest, Resting};
use crate::plan::{Lane, Plan, Step, Wait, plan};
use crate::witness::Moment;
use crate::world::World;
use crate::{Engine, backoff};
use cloud::Remedy;
use futures::future::join_all;
use model::{Condition, Reason, ServerId};
use std::time::Duration;
use tokio::time::{Instant, interval_at};

/// How long a fault that needs a person is left alone.
const UNTIL_A_PERSON_CAME: Duration = Duration::from_mins(5);
/// A server that leaves and can't be made, as one that is gone, does not slow the others more.
const BESIDE_LEAVING: Duration = Duration::from_secs(10);
/// A resume wakes the instance; this is only for when that gets lost.
const WHILE_PAUSED: Duration = Duration::from_secs(30);

type Outcome = (Option<ServerId>, Step, Result<Done, PassError>);

impl Engine {
    /// None while there is more to do.
    pub async fn turn(&self, pass: &mut Pass) -> Result<Option<Rest>, PassError> {
        let Some(observed) = self.observe(&pass.lease).await? else { return Ok(Some(Rest::Gone)) };
        let Observed { mut world, wakes, paused: is_paused, held } = observed;
        if !held {
            return Err(store::Error::LeaseLost(pass.lease.instance_id).into());
        }
        if is_paused {
            return self.rest(pass, &world, wakes, paused()).await;
        }
        world.confirmed.clone_from(&pass.confirmed);
        world.look.clone_from(&pass.look);
        world.placed.clone_from(&pass.placed);
        world.unseen.clone_from(&pass.look_failed);
        world.leaders_refused.clone_from(&pass.leaders_refused);
        world.unresponsive = self.replies.unresponsive(&world, self.clock.elapsed());
        world.is_fenced = pass.is_fenced;
        world.epoch = pass.lease.epoch;
        let plan = plan(&world);
        let steps = first_steps(&plan, pass);
        if steps.is_empty() {
            let wait = wait(pass, &world, plan.wait);
            return self.rest(pass, &world, wakes, wait).await;
        }
        let outcomes = self.execute_all(pass, &world, steps).await;
        // Also of a step that was cut off with its lease.
        self.see_to_late_write(pass).await?;
        for (server, step, result) in outcomes? {
            Self::note_outcome(pass, &world, server, step, result)?;
        }
        Ok(None)
    }

    /// Runs the steps side by side, and holds on to the lease meanwhile.
    async fn execute_all(
        &self,
        pass: &Pass,
        world: &World,
        steps: Vec<(Option<ServerId>, Step)>,
    ) -> Result<Vec<Outcome>, PassError> {
        let instance = pass.lease.instance_id;
        let work = join_all(steps.into_iter().map(|(server, step)| async move {
            tracing::debug!(%instance, ?step, "step");
            self.seen(step, Moment::Begins).await;
            let result = self.execute(pass, world, step).await;
            self.seen(step, Moment::Ends).await;
            (server, step, result)
        }));
        // Side by side with the work: a step may be in the middle of a write,
        // and a heartbeat that kept it from ending would wait for it for ever.
        tokio::select! {
            outcomes = work => Ok(outcomes),
            lost = self.keep_lease(pass) => Err(lost),
        }
    }

    /// Makes the lease of a step that takes long last, until that fails.
    async fn keep_lease(&self, pass: &Pass) -> PassError {
        let often = self.settings.lease.unsigned_abs() / 3;
        let mut beat = interval_at(Instant::now() + often, often);
        loop {
            beat.tick().await;
            let kept = async { Ok(self.guarded(pass).await?.commit().await?) };
            if let Err(lost) = kept.await {
                return lost;
            }
        }
    }

    fn note_outcome(
        pass: &mut Pass,
        world: &World,
        server: Option<ServerId>,
        step: Step,
        result: Result<Done, PassError>,
    ) -> Result<(), PassError> {
        let done = match result {
            Err(PassError::Store(error)) => return Err(error.into()),
            // What is wrong with the instance itself belongs into its status.
            Err(error) => Done::Failed { reason: error.to_string(), remedy: Remedy::GiveUp },
            Ok(done) => done,
        };
        match done {
            Done::Progress => match step {
                Step::TakeOver => pass.is_fenced = true,
                Step::EnsureServer(server) => drop(pass.confirmed.insert(server)),
                _ => {}
            },
            Done::Changed => (pass.look, pass.placed) = (None, None),
            Done::Placed(placed) => pass.placed = Some(placed),
            Done::Looked(look) => pass.look = Some(*look),
            Done::LeadersRefused(server) => drop(pass.leaders_refused.insert(server)),
            Done::LookFailed(why) => pass.look_failed = Some(why),
            Done::Wait { reason, after } => {
                let about = match step {
                    Step::ReturnLeaders(home) => Some(home),
                    _ => server,
                };
                let condition = condition(world, about, reason);
                pass.resting.insert(server, Resting { condition, after, failed: false });
            }
            Done::Failed { reason, remedy } => {
                let failures = world.instance.progress.failures.saturating_add(1);
                let instance = pass.lease.instance_id;
                tracing::warn!(%instance, %step, failures, reason, "step failed");
                let (reason, after) = failure(step, reason, remedy, failures);
                let condition = condition(world, server, reason);
                pass.resting.insert(server, Resting { condition, after, failed: true });
            }
        }
        Ok(())
    }
}

fn paused() -> Wait {
    Wait::new(Reason::Paused, WHILE_PAUSED)
}

/// The first step of each lane that can go on.
fn first_steps(plan: &Plan, pass: &Pass) -> Vec<(Option<ServerId>, Step)> {
    let free = |lane: &&Lane| !pass.resting.contains_key(&lane.server);
    let lanes = plan.lanes.iter().filter(free);
    lanes.filter_map(|lane| Some((lane.server, *lane.steps.first()?))).collect()
}

/// A condition of the instance, or of the server whose lane rests.
fn condition(world: &World, server: Option<ServerId>, reason: Reason) -> Condition {
    let view = world.servers.iter().find(|view| Some(view.server.id) == server);
    Condition { server: view.map(|view| view.server.number), ..reason.into() }
}

fn failure(step: Step, error: String, remedy: Remedy, failures: u32) -> (Reason, Duration) {
    let (after, retry_after) = match remedy {
        Remedy::Retry => {
            let after = backoff::after(failures);
            (after, Some(after.as_secs()))
        }
        Remedy::GiveUp => (UNTIL_A_PERSON_CAME, None),
    };
    (Reason::StepFailed { step: step.to_string(), error, retry_after }, after)
}

/// Everything that is waited for.
fn wait(pass: &Pass, world: &World, planned: Wait) -> Wait {
    if pass.resting.is_empty() {
        return planned;
    }
    let mut conditions: Vec<Condition> =
        pass.resting.values().map(|resting| resting.condition.clone()).collect();
    // Lanes that rest speak for themselves; the plan speaks for the others, and its word
    // that everything runs does not hold.
    if !pass.resting.contains_key(&None) {
        let runs = |it: &Condition| matches!(it.reason, Reason::Running | Reason::Stopped);
        conditions.extend(planned.conditions.into_iter().filter(|it| !runs(it)));
    }
    let after = pass.resting.values().map(|resting| resting.after).min();
    let mut after = after.unwrap_or(planned.after);
    let leaves = |id: &Option<ServerId>| {
        let mut views = world.servers.iter();
        views.any(|view| Some(view.server.id) == *id && view.server.is_leaving())
    };
    if pass.resting.keys().all(leaves) {
        after = after.min(planned.after.max(BESIDE_LEAVING));
    }
    Wait { conditions, after }
}
