//! A cluster in some situation, built without a store and without a clock: first how it is,
//! then what was asked, what agents report and what brokers say.

mod resized;
mod rows;

use crate::desired;
use crate::world::{ServerView, Trust, World};
use kafka::client::{PartitionView, Quorum, TopicReplication};
use kafka::safety::Look;
use model::*;
use resized::Kafka;
use rows::{action, broker, instance, node, report, server_id, view, voter};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use store::Ticket;
use wire::agent::{CertificateRequest, Phase, Report};

/// The epoch of the lease that the pass works under.
const EPOCH: i64 = 7;

pub struct Cluster {
    world: World,
    /// The nodes of every partition of the one topic, and which of them are in sync.
    partitions: Vec<(Vec<i32>, Vec<i32>)>,
    /// Who leads every partition, as these brokers say; the others say that its first
    /// replica in sync does.
    leaders: BTreeMap<i32, i32>,
    min_in_sync: usize,
    active: Option<i32>,
    no_reply: BTreeSet<i32>,
    is_looked_at: bool,
    /// What a change of the number of servers goes by.
    kafka: Kafka,
}

fn now() -> Timestamp {
    Timestamp::from_second(1_000_000).unwrap()
}

impl Cluster {
    /// Rows were written, and nothing else has happened.
    pub fn planned(nodes: u32) -> Self {
        let world = World {
            now: now(),
            started_at: now() - SignedDuration::from_hours(1),
            store_epoch: 1,
            instance: instance(nodes),
            vpc: None,
            servers: (1..=nodes).map(view).collect(),
            firewall_enforced: None,
            trust: Trust::default(),
            certificate_life: CertificateLife::default(),
            disk_guards: vec![],
            slowed: None,
            epoch: EPOCH,
            ticket: None,
            is_fenced: true,
            confirmed: HashSet::new(),
            look: None,
            unseen: None,
            leaders_refused: HashSet::new(),
            resize: None,
            placed: None,
            actions: vec![],
            unresponsive: HashSet::new(),
        };
        let nodes: Vec<i32> = world.servers.iter().map(|view| view.server.node_id).collect();
        let (min_in_sync, active) = (nodes.len().div_ceil(2), Some(1));
        let partitions = vec![(nodes.clone(), nodes)];
        let no_reply = BTreeSet::new();
        let leaders = BTreeMap::new();
        let (is_looked_at, kafka) = (false, Kafka::default());
        Self { world, partitions, leaders, min_in_sync, active, no_reply, is_looked_at, kafka }
    }

    /// The agents of all servers run and have their orders; no broker was started.
    pub fn provisioned(nodes: u32) -> Self {
        let mut cluster = Self::planned(nodes).network_made();
        for view in &mut cluster.world.servers {
            view.server.state = ServerState::Made;
            view.server.enrolled_at = Some(now());
            view.server.last_seen = Some(now());
            view.disk.as_mut().unwrap().state = DiskState::Formatting;
            view.broker = Some(broker());
            cluster.world.confirmed.insert(view.server.id);
        }
        cluster.all_report(Phase::Preparing).all_informed()
    }

    /// Ready and configured: every broker runs, and customers are in.
    pub fn running(nodes: u32) -> Self {
        let mut cluster = Self::provisioned(nodes).all_report(Phase::Running).formatted();
        let progress = &mut cluster.world.instance.progress;
        progress.observed_generation = 1;
        progress.credentials_set = true;
        progress.ready_at = Some(now());
        cluster.all_informed()
    }

    /// As a plan gets it.
    pub fn world(mut self) -> World {
        self.world.look = self.is_looked_at.then(|| self.look());
        self.world.placed = self.kafka.placed(&self.world);
        self.world
    }

    fn look(&self) -> Look {
        if let Some(look) = self.kafka.look(&self.world, &self.no_reply) {
            return look;
        }
        let topic = |broker: i32| {
            let partition = |(index, (replicas, in_sync)): (usize, &(Vec<i32>, Vec<i32>))| {
                let leader = self.leaders.get(&broker).or(in_sync.first()).copied();
                let (replicas, in_sync) = (replicas.clone(), in_sync.clone());
                PartitionView { index: i32::try_from(index).unwrap(), leader, replicas, in_sync }
            };
            TopicReplication {
                name: "orders".into(),
                min_in_sync: self.min_in_sync,
                partitions: self.partitions.iter().enumerate().map(partition).collect(),
            }
        };
        let controllers = self.world.servers.iter().filter(|view| view.server.is_controller());
        let runs = self.world.servers.iter().filter(|view| view.is_up());
        let nodes = runs.map(|view| view.server.node_id);
        let answer = nodes.filter(|node| !self.no_reply.contains(node));
        Look {
            quorum: Quorum {
                leader: self.active,
                leader_epoch: 1,
                high_watermark: 9,
                voters: controllers.map(voter).collect(),
                observers: vec![],
            },
            views: answer.map(|node| (node, vec![topic(node)])).collect(),
            no_reply: self.no_reply.clone(),
        }
    }
}

/// What was asked.
impl Cluster {
    pub fn asked(mut self) -> Self {
        self.world.instance.generation += 1;
        self
    }

    fn asked_for(self, kind: ActionKind, numbers: &[u32]) -> Self {
        let mut cluster = self.asked();
        cluster.world.actions.push(action(kind, numbers));
        cluster
    }

    pub fn restart(self, numbers: &[u32]) -> Self {
        self.asked_for(ActionKind::Restart, numbers)
            .each(numbers, |view| view.server.wanted = view.server.wanted.restart(0).unwrap())
    }

    /// What has not begun was taken back before.
    pub fn cancelled(mut self) -> Self {
        for action in &mut self.world.actions {
            action.cancelled_at = Some(now());
        }
        self
    }

    /// Of several actions, the first was cancelled.
    pub fn cancelled_first(mut self) -> Self {
        self.world.actions[0].cancelled_at = Some(now());
        self
    }

    pub fn stop(self, numbers: &[u32]) -> Self {
        self.asked_for(ActionKind::Stop, numbers)
            .each(numbers, |view| view.server.wanted = view.server.wanted.stop().unwrap())
    }

    pub fn start(self, numbers: &[u32]) -> Self {
        self.asked_for(ActionKind::Start, numbers)
            .each(numbers, |view| view.server.wanted = view.server.wanted.start().unwrap())
    }

    pub fn cluster_stop(mut self) -> Self {
        self.world.instance.stopped = true;
        self.asked()
    }

    pub fn cluster_start(mut self) -> Self {
        self.world.instance.stopped = false;
        self.asked()
    }

    pub fn delete(mut self) -> Self {
        self.world.instance.deleted_at = Some(now());
        self
    }

    /// A new password, or settings that brokers take while they run.
    pub fn changed_in_kafka(mut self) -> Self {
        self.world.instance.kafka_generation += 1;
        self
    }

    pub fn revoked(mut self) -> Self {
        self.world.trust.revoked.push("4f".into());
        self
    }
}

/// How far the engine is.
impl Cluster {
    pub fn not_taken_over(mut self) -> Self {
        self.world.is_fenced = false;
        self
    }

    pub fn network_made(mut self) -> Self {
        self.world.instance.progress.network_made = true;
        self
    }

    pub fn not_ready(mut self) -> Self {
        self.world.instance.progress.ready_at = None;
        self
    }

    /// Whether the cloud enforces firewall rules, as far as it has said.
    pub fn firewall_enforced(mut self, enforced: Option<bool>) -> Self {
        self.world.firewall_enforced = enforced;
        self
    }

    /// Clients without a login have rights.
    pub fn anonymous_let_in(mut self) -> Self {
        self.world.instance.progress.anonymous_let_in = true;
        self
    }

    pub fn without_credentials(mut self) -> Self {
        self.world.instance.progress.credentials_set = false;
        self.not_ready()
    }

    pub fn reached(mut self) -> Self {
        let generation = self.world.instance.generation;
        self.world.instance.progress.observed_generation = generation;
        self.world.actions.clear();
        self
    }

    pub fn unconfirmed(self, numbers: &[u32]) -> Self {
        let mut cluster = self;
        let ids: Vec<ServerId> = numbers.iter().map(|number| server_id(*number)).collect();
        cluster.world.confirmed.retain(|id| !ids.contains(id));
        cluster
    }

    pub fn disk(self, number: u32, state: DiskState) -> Self {
        self.each(&[number], |view| view.disk.as_mut().unwrap().state = state)
    }

    pub fn formatted(self) -> Self {
        let all = self.numbers();
        self.each(&all, |view| view.disk.as_mut().unwrap().state = DiskState::Formatted)
    }

    /// The configuration is to be rendered anew.
    pub fn unrendered(self, number: u32) -> Self {
        self.each(&[number], |view| view.broker = None)
    }

    /// The document of these agents is as the engine would publish it now.
    pub fn informed(mut self, numbers: &[u32]) -> Self {
        for number in numbers {
            let at = self.position(*number);
            let view = &self.world.servers[at];
            let document = desired::document(&self.world, view, view.certificates()).unwrap();
            let view = &mut self.world.servers[at];
            view.revision = document.revision;
            if let Some(report) = &mut view.report {
                report.revision = document.revision;
            }
            view.desired = Some(document);
        }
        self
    }

    pub fn all_informed(self) -> Self {
        let all = self.numbers();
        self.informed(&all)
    }

    /// The agents' servers do not exist any more.
    pub fn hibernated(self, numbers: &[u32]) -> Self {
        self.unconfirmed(numbers).each(numbers, |view| {
            view.server.state = ServerState::Hibernated;
            view.report = None;
        })
    }

    pub fn removed(mut self, number: u32) -> Self {
        self.world.servers.retain(|view| view.server.number != number);
        self
    }

    /// Opened by this very pass; None: for every server.
    pub fn ticket(mut self, number: Option<u32>) -> Self {
        self.world.ticket = Some(Ticket {
            id: 1,
            instance_id: InstanceId(1),
            server_id: number.map(server_id),
            epoch: EPOCH,
            purpose: None,
            opened_at: now(),
            left: SignedDuration::from_secs(10),
        });
        self
    }

    /// The ticket was opened under another lease, or is about to expire.
    pub fn ticket_is_old(mut self) -> Self {
        self.world.ticket.as_mut().unwrap().epoch = EPOCH - 1;
        self
    }

    pub fn ticket_expires(mut self) -> Self {
        self.world.ticket.as_mut().unwrap().left = SignedDuration::from_secs(1);
        self
    }

    /// A ticket was opened and the agent told: its broker is about to stop.
    pub fn let_stop(self, number: u32) -> Self {
        self.ticket(Some(number)).informed(&[number])
    }
}

/// What agents report.
impl Cluster {
    pub fn reports(self, number: u32, phase: Phase) -> Self {
        self.each(&[number], |view| {
            let (revision, launch) = (view.revision, view.server.wanted.launch());
            view.report = Some(report(phase, revision, launch));
        })
    }

    pub fn all_report(self, phase: Phase) -> Self {
        let all = self.numbers();
        all.into_iter().fold(self, |cluster, number| cluster.reports(number, phase))
    }

    pub fn report(self, number: u32, change: impl Fn(&mut Report)) -> Self {
        self.each(&[number], |view| change(view.report.as_mut().unwrap()))
    }

    pub fn unreported(self, number: u32) -> Self {
        self.each(&[number], |view| view.report = None)
    }

    pub fn last_seen(self, number: u32, ago: SignedDuration) -> Self {
        self.each(&[number], |view| view.server.last_seen = Some(now() - ago))
    }

    pub fn disk_lost(self, number: u32) -> Self {
        let fault = |report: &mut Report| report.disk_fault = Some("the disk is empty".into());
        self.reports(number, Phase::Failed).report(number, fault)
    }

    pub fn asks_for_certificate(self, number: u32) -> Self {
        self.report(number, |report| {
            let (name, csr) = (desired::SERVER.to_owned(), "a request".to_owned());
            report.requests = vec![CertificateRequest { name, generation: 1, csr }];
        })
    }

    /// The broker runs and answers neither its agent nor us.
    pub fn unresponsive(mut self, number: u32) -> Self {
        self.world.unresponsive.insert(server_id(number));
        let since = now() - SignedDuration::from_mins(1);
        let mut cluster = self.report(number, |report| report.silent_since = Some(since));
        cluster.no_reply.insert(node(number));
        cluster
    }

    /// The agent gets no answer; the control plane does.
    pub fn unresponsive_to_agent(mut self, number: u32) -> Self {
        self.world.unresponsive.insert(server_id(number));
        let since = now() - SignedDuration::from_mins(1);
        self.report(number, |report| report.silent_since = Some(since))
    }

    /// The control plane gets no answer; the agent does.
    pub fn unresponsive_to_us(mut self, number: u32) -> Self {
        self.world.unresponsive.insert(server_id(number));
        self.no_reply.insert(node(number));
        self
    }

    pub fn disk_nearly_full(mut self, number: u32) -> Self {
        self.world.disk_guards.push(DiskGuard {
            instance_id: InstanceId(1),
            server_id: server_id(number),
            level: DiskLevel::Slowed,
            since: now(),
        });
        self
    }

    pub fn slowed(mut self) -> Self {
        self.world.slowed = Some(vec![SlowedQuota {
            user: "<default>".into(),
            client_id: None,
            producer_byte_rate: None,
            is_set: true,
        }]);
        self
    }
}

/// What brokers say.
impl Cluster {
    /// They were asked in this pass. All replicas are in sync, and server 1 is the active
    /// controller, unless said otherwise.
    pub fn looked_at(mut self) -> Self {
        self.is_looked_at = true;
        self
    }

    pub fn unseen(mut self) -> Self {
        self.world.unseen = Some("no broker answers".into());
        self
    }

    pub fn active_controller(mut self, number: Option<u32>) -> Self {
        self.active = number.map(node);
        self
    }

    /// The one topic has a partition on these servers, in sync on those.
    pub fn partition(mut self, on: &[u32], in_sync: &[u32]) -> Self {
        let nodes = |numbers: &[u32]| numbers.iter().map(|number| node(*number)).collect();
        self.partitions.push((nodes(on), nodes(in_sync)));
        self
    }

    /// No replica on this server is in sync.
    pub fn lagging(mut self, number: u32) -> Self {
        for (_, in_sync) in &mut self.partitions {
            in_sync.retain(|id| *id != node(number));
        }
        self
    }

    /// Every partition is led by this server, as those say.
    pub fn led_by(mut self, number: u32, say: &[u32]) -> Self {
        self.leaders.extend(say.iter().map(|broker| (node(*broker), node(number))));
        self
    }

    /// Kafka has refused to give leaders back to this server in this pass.
    pub fn leaders_refused(mut self, number: u32) -> Self {
        self.world.leaders_refused.insert(server_id(number));
        self
    }

    pub fn min_in_sync(mut self, min: usize) -> Self {
        self.min_in_sync = min;
        self
    }

    pub fn no_reply(mut self, number: u32) -> Self {
        self.no_reply.insert(node(number));
        self
    }
}

impl Cluster {
    fn numbers(&self) -> Vec<u32> {
        self.world.servers.iter().map(|view| view.server.number).collect()
    }

    fn position(&self, number: u32) -> usize {
        let mut views = self.world.servers.iter();
        views.position(|view| view.server.number == number).unwrap()
    }

    fn each(mut self, numbers: &[u32], change: impl Fn(&mut ServerView)) -> Self {
        for number in numbers {
            let at = self.position(*number);
            change(&mut self.world.servers[at]);
        }
        self
    }

    /// For what no word above says.
    pub fn with(mut self, change: impl FnOnce(&mut World)) -> Self {
        change(&mut self.world);
        self
    }
}
