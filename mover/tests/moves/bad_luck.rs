//! What others do while replicas are moved: brokers die and come back, topics are made and
//! deleted, the customer moves a partition, and somebody cancels reassignments.

use crate::dice::Dice;
use crate::kafka::Kafka;
use crate::random::topic;
use mover::{Broker, Partition, PartitionName, may_cancel, may_reassign};

pub struct BadLuck {
    /// Topics made so far.
    made: u64,
}

impl BadLuck {
    pub fn new() -> Self {
        Self { made: 0 }
    }

    pub fn strike(&mut self, kafka: &mut Kafka, dice: &mut Dice) {
        kill(kafka, dice);
        if let Some(node) = dice.pick(&nodes(kafka, false)).filter(|_| dice.percent(20)) {
            kafka.revive(node);
        }
        if dice.percent(4) {
            self.make_topic(kafka, dice);
        }
        if dice.percent(4) {
            let names: Vec<_> = kafka.cluster.partitions.iter().map(|it| &it.topic).collect();
            let name = dice.pick(&names).filter(|it| !it.starts_with("__")).cloned();
            if let Some(name) = name {
                kafka.delete(&name);
            }
        }
        cancel(kafka, dice);
        if dice.percent(5) {
            move_by_hand(kafka, dice);
        }
    }

    fn make_topic(&mut self, kafka: &mut Kafka, dice: &mut Dice) {
        self.made += 1;
        let most = kafka.cluster.staying().count().min(3);
        let up = nodes(kafka, true);
        kafka.create(topic(dice, &format!("made{}", self.made), &up, most));
    }
}

fn nodes(kafka: &Kafka, is_up: bool) -> Vec<i32> {
    kafka.cluster.brokers.iter().filter(|it| it.is_up == is_up).map(|it| it.node).collect()
}

/// Any broker, or the leader of something that is being copied.
fn kill(kafka: &mut Kafka, dice: &mut Dice) {
    if nodes(kafka, false).len() >= 2 {
        return;
    }
    let copied = kafka.cluster.partitions.iter().filter(|it| it.reassignment.is_some());
    let leaders: Vec<i32> = copied.filter_map(|it| it.leader).collect();
    let any = dice.pick(&nodes(kafka, true)).filter(|_| dice.percent(5));
    let victim = any.or_else(|| dice.pick(&leaders).filter(|_| dice.percent(20)));
    if let Some(node) = victim {
        kafka.kill(node);
    }
}

/// Within the rules, or against them as far as Kafka itself keeps the data.
fn cancel(kafka: &mut Kafka, dice: &mut Dice) {
    let is_careless = dice.percent(30);
    let may = |it: &&Partition| {
        let original = it.original();
        let keeps_data = it.in_sync.iter().any(|node| original.contains(node));
        it.reassignment.is_some() && (may_cancel(it).is_go() || is_careless && keeps_data)
    };
    if let Some(name) = pick(kafka, dice, may).filter(|_| dice.percent(15)) {
        kafka.cancel(&name);
    }
}

fn move_by_hand(kafka: &mut Kafka, dice: &mut Dice) {
    let target = dice.some(&nodes(kafka, true), 3);
    let may = |it: &&Partition| may_reassign(it, &target, |node| kafka.cluster.is_up(node)).is_go();
    if let Some(name) = pick(kafka, dice, may) {
        kafka.reassign(&name, &target);
    }
}

fn pick(
    kafka: &Kafka,
    dice: &mut Dice,
    is_one: impl Fn(&&Partition) -> bool,
) -> Option<PartitionName> {
    let names = kafka.cluster.partitions.iter().filter(is_one).map(Partition::name);
    dice.pick(&names.collect::<Vec<_>>())
}

pub fn revive(kafka: &mut Kafka, is_awaited: impl Fn(&Broker) -> bool) {
    let down = kafka.cluster.brokers.iter().filter(|it| !it.is_up && is_awaited(it));
    for node in down.map(|it| it.node).collect::<Vec<_>>() {
        kafka.revive(node);
    }
}
