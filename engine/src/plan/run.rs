//! Towards a running cluster: make what is missing, tell the agents, wait for the brokers,
//! let the customer in, and change what runs one server at a time.

use super::provision::provision;
use super::{Lane, Plan, Step, Wait, renewal, resize, roll, waits};
use crate::world::{Life, ServerView, World};
use model::Timestamp;
use std::time::Duration;

/// The first part that has something to do, or to wait for, is the plan.
const PARTS: [fn(&Draft) -> Option<Plan>; 8] = [
    take_back_stop,
    make_network,
    provision_servers,
    write_into_kafka,
    let_customers_back_in,
    resize_cluster,
    roll_servers,
    let_customers_in,
];

/// What all parts look at.
struct Draft<'a> {
    world: &'a World,
    /// What each server lacks.
    lanes: Vec<Lane>,
    /// For the parts that have nothing else to say.
    wait: Wait,
}

pub(super) fn plan(world: &World) -> Plan {
    // Certificates are parsed for this, so each server is asked once.
    let renewals: Vec<Option<Timestamp>> =
        world.servers.iter().map(|view| renewal::due(world, view)).collect();
    let next_renewal = renewals.iter().flatten().min().copied();
    let servers = world.servers.iter().zip(renewals);
    let lanes = servers.map(|(view, renewal)| provision(world, view, renewal)).collect();
    let wait = until_renewal(world, next_renewal, waits::reasons_to_wait(world));
    let draft = Draft { world, lanes, wait };
    let planned = PARTS.iter().find_map(|part| part(&draft));
    draft.beside(planned.unwrap_or_else(|| draft.whole(vec![])))
}

impl Draft<'_> {
    fn whole(&self, steps: Vec<Step>) -> Plan {
        Plan::whole(steps, self.wait.clone())
    }

    /// Servers that leave and don't run get what they lack, and nothing waits for it: they may
    /// be gone for good.
    fn beside(&self, mut plan: Plan) -> Plan {
        let is_planned = |server| plan.lanes.iter().any(|lane| lane.server == server);
        let lanes = self.lanes.iter().filter(|lane| self.is_of_leaving(lane));
        let lanes = lanes.filter(|lane| !lane.steps.is_empty() && !is_planned(lane.server));
        plan.lanes.extend(lanes.cloned().collect::<Vec<_>>());
        plan
    }

    fn is_of_leaving(&self, lane: &Lane) -> bool {
        let mut views = self.world.servers.iter();
        let is_its = |view: &&ServerView| Some(view.server.id) == lane.server;
        let view = views.find(is_its);
        view.is_some_and(|view| {
            view.server.is_leaving() && !view.is_up() || self.world.may_be_gone(view)
        })
    }

    fn lacks_something(&self, view: &ServerView) -> bool {
        let is_its = |lane: &&Lane| lane.server == Some(view.server.id);
        self.lanes.iter().filter(is_its).any(|lane| !lane.steps.is_empty())
    }

    /// Whether customers are in, something that Kafka keeps was changed since, and enough
    /// controllers run to commit it. A server that is stopped or unresponsive reads it in
    /// Kafka's metadata when it is back. One that lacks something does not count: its
    /// report may be of a broker that is gone.
    fn is_changed_in_kafka(&self) -> bool {
        let instance = &self.world.instance;
        let is_old = instance.progress.kafka_observed < instance.kafka_generation;
        let is_changed =
            is_old || self.world.anonymous_differs() || self.world.is_to_slow_or_let_go();
        let works = |view: &ServerView| {
            view.is_up() && !self.world.is_unresponsive(view) && !self.lacks_something(view)
        };
        instance.ready() && is_changed && self.world.quorum_has(works)
    }

    /// What customers need that can be done while servers lack something or still start.
    fn steps_beside(&self) -> Vec<Step> {
        let world = self.world;
        if self.is_changed_in_kafka() {
            return vec![Step::SetCredentials];
        }
        let rests = |view: &ServerView| matches!(view.life(), Life::Serving | Life::Stopped);
        let all_rest = world.members().all(|view| rests(view) && view.is_sealed());
        if all_rest && !world.instance.ready() {
            return customer_steps(world);
        }
        // Nothing is written before the disks of most controllers are sealed: with disks that
        // are formatted anew all of it would be gone.
        let takes_it =
            |view: &ServerView| view.is_up() && view.is_sealed() && !world.is_unresponsive(view);
        if !world.instance.progress.credentials_set && world.quorum_has(takes_it) {
            return vec![Step::SetCredentials];
        }
        vec![]
    }
}

/// A stop of the whole cluster that was taken back.
fn take_back_stop(draft: &Draft) -> Option<Plan> {
    let is_of_all = draft.world.ticket.as_ref().is_some_and(|it| it.server_id.is_none());
    is_of_all.then(|| draft.whole(vec![Step::CloseTicket]))
}

fn make_network(draft: &Draft) -> Option<Plan> {
    let is_made = draft.world.instance.progress.network_made;
    (!is_made).then(|| draft.whole(vec![Step::MakeNetwork]))
}

fn provision_servers(draft: &Draft) -> Option<Plan> {
    let mut lanes = draft.lanes.clone();
    if lanes.iter().all(|lane| lane.steps.is_empty() || draft.is_of_leaving(lane)) {
        return None;
    }
    let mut steps = draft.steps_beside();
    if steps.is_empty() {
        steps = resize::steps_to_end(draft.world);
    }
    if !steps.is_empty() {
        lanes.push(Lane { server: None, steps });
    }
    Some(Plan { lanes, wait: draft.wait.clone() })
}

fn write_into_kafka(draft: &Draft) -> Option<Plan> {
    let steps = draft.steps_beside();
    (!steps.is_empty()).then(|| draft.whole(steps))
}

/// Customers of a cluster that was stopped come in again without a server that is held: the
/// others can do without it, or the cluster would not have been ready.
fn let_customers_back_in(draft: &Draft) -> Option<Plan> {
    let world = draft.world;
    let count = |is: fn(&ServerView) -> bool| world.members().filter(|it| is(it)).count();
    let running = count(|view| view.life() == Life::Serving);
    let held = count(|view| view.life() == Life::Coming && view.is_held());
    let stopped = count(|view| view.server.wanted.is_stopped() && !view.is_up());
    let all_run_or_are_held = running > held && running + held + stopped == count(|_| true);
    let steps = customer_steps(world);
    (world.was_ready() && all_run_or_are_held && !steps.is_empty()).then(|| draft.whole(steps))
}

fn resize_cluster(draft: &Draft) -> Option<Plan> {
    resize::plan(draft.world)
}

fn roll_servers(draft: &Draft) -> Option<Plan> {
    roll::plan(draft.world)
}

fn let_customers_in(draft: &Draft) -> Option<Plan> {
    let mut servers = draft.world.servers.iter();
    let all_run =
        servers.all(|view| view.server.wanted.is_stopped() || view.life() == Life::Serving);
    all_run.then(|| draft.whole(customer_steps(draft.world)))
}

/// What the customer needs once every broker runs.
fn customer_steps(world: &World) -> Vec<Step> {
    let progress = &world.instance.progress;
    let mut steps = Vec::new();
    let is_old = progress.kafka_observed < world.instance.kafka_generation;
    if !progress.credentials_set || is_old || world.anonymous_differs() {
        steps.push(Step::SetCredentials);
    }
    if progress.ready_at.is_none() {
        steps.push(Step::CheckLogin);
    }
    steps
}

/// The same wait, but not beyond the next renewal of a certificate.
fn until_renewal(world: &World, next: Option<Timestamp>, wait: Wait) -> Wait {
    let left = next.and_then(|at| Duration::try_from(at.duration_since(world.now)).ok());
    Wait { after: left.map_or(wait.after, |left| left.min(wait.after)), ..wait }
}
