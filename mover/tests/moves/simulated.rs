//! Operations on a simulated Kafka with bad luck: brokers die, the control plane crashes in the
//! middle of a batch, topics are made and deleted, reassignments are cancelled.
//!
//! Whatever happens, nothing that was acknowledged is lost, and once the bad luck ends, the
//! operation does too. `CASTELLAN_SEED` is the first schedule's seed, `CASTELLAN_SCHEDULES` says
//! how many there are.

use crate::bad_luck::{BadLuck, revive};
use crate::dice::Dice;
use crate::kafka::Kafka;
use crate::random::{assert_reached, brokers, topic};
use crate::world::{Build, GB, cluster};
use mover::{Aim, Cluster, Limits, Next, Partition, PartitionName, next_batch};

const LIMITS: Limits = Limits { partitions: 4, bytes: GB, leaders: 2 };

/// Executes some of what is next: all of it, or what was done before a crash.
fn execute(kafka: &mut Kafka, next: &Next, dice: &mut Dice) {
    let is_done = |dice: &mut Dice| !dice.percent(15);
    match next {
        Next::MendElr(topics) => {
            for topic in topics.iter().filter(|_| is_done(dice)) {
                kafka.set_min_isr(&topic.topic, 1);
                kafka.set_min_isr(&topic.topic, topic.min_isr);
            }
        }
        Next::Cancel(names) => names.iter().for_each(|name| kafka.cancel(name)),
        Next::SetMinIsr(all) => {
            for change in all.iter().filter(|_| is_done(dice)) {
                kafka.set_min_isr(&change.topic, change.to);
            }
        }
        Next::Reassign(moves) => {
            let done: Vec<_> = moves.iter().filter(|_| is_done(dice)).cloned().collect();
            kafka.start(&done);
            for one in &done {
                kafka.assert_in_sync(&one.partition);
            }
        }
        Next::ElectLeaders(names) => kafka.elect_preferred(names),
        Next::Wait(_) | Next::Done => {}
    }
}

fn start(dice: &mut Dice) -> Cluster {
    let number = 3 + dice.index(5);
    let mut cluster = Cluster { brokers: brokers(dice, number), partitions: vec![] };
    let nodes: Vec<i32> = (1..).take(1 + dice.index(number)).collect();
    for at in 0..=dice.below(8) {
        cluster.partitions.extend(topic(dice, &format!("t{at}"), &nodes, 3));
    }
    cluster.partitions.extend(topic(dice, "__consumer_offsets", &nodes, 3));
    cluster
}

/// Growing, shrinking or neither. Who leaves may come back with the next aim.
fn choose_aim(kafka: &mut Kafka, dice: &mut Dice) -> Aim {
    let number = kafka.cluster.brokers.len();
    let leaving = match dice.below(4) {
        0 | 1 => 0,
        2 => number - 1,
        _ => 1 + dice.index(number - 1),
    };
    for (at, broker) in kafka.cluster.brokers.iter_mut().enumerate() {
        broker.is_leaving = at + leaving >= number;
    }
    let staying = number - leaving;
    let is_wide = |it: &Partition| it.settled().len() > staying;
    let lower_to = kafka.cluster.partitions.iter().any(is_wide).then_some(staying);
    let raise_single = dice.percent(70).then_some(3);
    Aim { lower_to, raise_single, accept_single_copy: true, ..Aim::rebalance() }
}

/// No more bad luck: all brokers come back, and all copies get in sync.
fn calm(kafka: &mut Kafka) {
    revive(kafka, |_| true);
    for _ in 0..20 {
        kafka.pass_time(0, || GB);
    }
}

fn assert_whole(kafka: &Kafka, what: &str) {
    assert_eq!(kafka.lost, [], "{what}: lost");
    for partition in &kafka.cluster.partitions {
        assert!(partition.leader.is_some(), "{what}: {partition:?}");
        assert_eq!(partition.reassignment, None, "{what}: {partition:?}");
        assert_eq!(partition.lagging(), [], "{what}: {partition:?}");
    }
}

/// Whether it ends, and does not wait for ever.
fn run(kafka: &mut Kafka, aim: &Aim, dice: &mut Dice) -> bool {
    let mut waited = 0;
    for _ in 0..1000 {
        kafka.pass_time(0, || GB);
        let next = next_batch(&kafka.cluster, aim, &LIMITS);
        execute(kafka, &next, dice);
        waited = if matches!(next, Next::Wait(_)) { waited + 1 } else { 0 };
        if next == Next::Done || waited > 20 {
            return next == Next::Done;
        }
    }
    false
}

/// Whether it ended without those that were dead.
fn try_one(seed: u64) -> bool {
    let mut dice = Dice::new(seed);
    let mut kafka = Kafka::new(start(&mut dice));
    let mut luck = BadLuck::new();
    for attempt in 0..6 {
        let what = format!("seed {seed}, attempt {attempt}");
        let aim = choose_aim(&mut kafka, &mut dice);
        // It is cancelled in the end, wherever it is.
        for _ in 0..dice.below(80) {
            luck.strike(&mut kafka, &mut dice);
            let written = dice.below(1000);
            kafka.pass_time(written, || if dice.percent(20) { dice.below(GB) } else { 0 });
            let next = next_batch(&kafka.cluster, &aim, &LIMITS);
            execute(&mut kafka, &next, &mut dice);
            assert_eq!(kafka.lost, [], "{what}");
        }
        if dice.percent(50) {
            calm(&mut kafka);
            assert_whole(&kafka, &what);
        }
    }
    let what = format!("seed {seed}, at the end");
    let aim = choose_aim(&mut kafka, &mut dice);
    // Brokers that leave may be dead for good, but for copies that nobody else has.
    revive(&mut kafka, |it| !it.is_leaving);
    let is_without = run(&mut kafka, &aim, &mut dice);
    if !is_without {
        revive(&mut kafka, |_| true);
        assert!(run(&mut kafka, &aim, &mut dice), "{what}: there is no end");
    }
    assert_whole(&kafka, &what);
    let staying = kafka.cluster.staying().count();
    assert_reached(&kafka.cluster, &aim, |it| aim.replicas(it, it.replicas.len(), staying));
    assert!(kafka.cluster.partitions.iter().all(|it| it.elr.is_empty()), "{what}: ELR");
    is_without
}

#[test]
fn with_bad_luck_nothing_is_lost_and_it_always_ends() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let first = number("CASTELLAN_SEED").unwrap_or(0);
    let seeds = first..first + number("CASTELLAN_SCHEDULES").unwrap_or(100);
    let without = seeds.clone().filter(|seed| try_one(*seed)).count();
    println!("{without} of {seeds:?} ended without brokers that were dead");
    assert!(without as u64 * 2 > seeds.end - seeds.start, "only {without} did");
}

fn name(topic: &str) -> PartitionName {
    PartitionName { topic: topic.into(), index: 0 }
}

/// What the rules are for. Without them this simulated Kafka does what the real one did.
#[test]
fn without_the_rules_data_is_lost() {
    let mut kafka = Kafka::new(cluster("1 2 3").topic("orders", GB, 2, "1 2 3"));
    kafka.reassign(&name("orders"), &[1]);
    assert_eq!(kafka.cluster.partitions[0].elr, [2, 3]);
    kafka.reassign(&name("orders"), &[1, 2, 3]);
    kafka.kill(1);
    assert_eq!(kafka.lost, [name("orders")]);
}

#[test]
fn with_the_rules_the_same_wish_loses_nothing() {
    let mut kafka = Kafka::new(cluster("1 2! 3!").topic("orders", GB, 2, "1 2 3"));
    let mut dice = Dice::new(1);
    for aim in [Aim::shrink(1, true), Aim::grow(1, true)] {
        for _ in 0..20 {
            let next = next_batch(&kafka.cluster, &aim, &LIMITS);
            execute(&mut kafka, &next, &mut dice);
            kafka.pass_time(0, || GB / 10);
        }
        kafka.cluster.brokers.iter_mut().for_each(|it| it.is_leaving = false);
    }
    assert_eq!(kafka.cluster.partitions[0].in_sync.len(), 3);
    kafka.kill(1);
    assert_eq!(kafka.lost, []);
}

/// An operator who cancels against the rules leaves a stale ELR. It is mended first.
#[test]
fn a_careless_cancel_is_mended() {
    let mut kafka = Kafka::new(cluster("1 2 3").topic("orders", GB, 2, "1"));
    kafka.reassign(&name("orders"), &[1, 2]);
    kafka.pass_time(0, || GB);
    kafka.reassign(&name("orders"), &[1, 2, 3]);
    kafka.cancel(&name("orders"));
    kafka.reassign(&name("orders"), &[1]);
    assert_eq!(kafka.cluster.partitions[0].elr, [2]);
    let next = next_batch(&kafka.cluster, &Aim::grow(1, true), &LIMITS);
    assert!(matches!(&next, Next::MendElr(topics) if topics[0].min_isr == 2), "{next:?}");
}
