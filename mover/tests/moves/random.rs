//! What holds for the plan of any cluster.

use crate::dice::Dice;
use crate::world::{DISK, GB, apply, loads};
use mover::{Aim, Broker, Cluster, Limits, Next, Partition, check, next_batch, plan};
use std::collections::{BTreeMap, BTreeSet};

pub fn brokers(dice: &mut Dice, number: usize) -> Vec<Broker> {
    let racks = dice.below(5);
    let broker = |dice: &mut Dice, node| Broker {
        node,
        rack: (racks > 0).then(|| dice.below(racks).to_string()),
        disk_bytes: DISK,
        free_bytes: DISK,
        is_leaving: false,
        is_up: true,
    };
    (1..).take(number).map(|node| broker(dice, node)).collect()
}

pub fn topic(dice: &mut Dice, name: &str, nodes: &[i32], most_replicas: usize) -> Vec<Partition> {
    let replicas = 1 + dice.index(most_replicas.min(nodes.len()));
    // As with a cluster's setting that is above what a topic has.
    let min_isr = 1 + dice.index(replicas + 1);
    let most = 1 + dice.below(GB);
    let partition = |dice: &mut Dice, index| {
        let replicas = dice.some(nodes, replicas);
        Partition {
            topic: name.into(),
            index,
            bytes: dice.size(most),
            min_isr,
            leader: dice.pick(&replicas),
            in_sync: replicas.clone(),
            replicas,
            elr: vec![],
            reassignment: None,
        }
    };
    let number = 1 + i32::try_from(dice.below(6)).unwrap();
    (0..number).map(|index| partition(dice, index)).collect()
}

/// Some brokers are new and empty, some leave.
pub fn cluster(dice: &mut Dice) -> Cluster {
    let number = 1 + dice.index(8);
    let mut brokers = brokers(dice, number);
    let nodes: Vec<i32> = brokers.iter().map(|it| it.node).collect();
    let in_use = 1 + dice.index(number);
    let mut partitions = Vec::new();
    for at in 0..dice.below(30) {
        partitions.extend(topic(dice, &format!("t{at}"), &nodes[..in_use], 4));
    }
    if dice.percent(50) {
        partitions.extend(topic(dice, "__consumer_offsets", &nodes[..in_use], 3));
    }
    for broker in brokers.iter_mut().skip(dice.index(number)) {
        broker.is_leaving = dice.percent(30);
    }
    let mut cluster = Cluster { brokers, partitions };
    let used = loads(&cluster);
    for broker in &mut cluster.brokers {
        broker.free_bytes -= used[&broker.node].0;
    }
    cluster
}

pub fn aim(dice: &mut Dice, cluster: &Cluster) -> Aim {
    let staying = cluster.staying().count();
    match dice.below(4) {
        0 => Aim::grow(1, dice.percent(70)),
        1 => Aim::shrink(staying, true),
        2 => Aim { spread: false, accept_single_copy: true, ..Aim::default() },
        _ => {
            Aim { lower_to: Some(1 + dice.index(3)), accept_single_copy: true, ..Aim::rebalance() }
        }
    }
}

fn racks(cluster: &Cluster, nodes: impl IntoIterator<Item = i32>) -> usize {
    let rack = |node: i32| {
        let rack = cluster.broker(node).unwrap().rack.clone();
        rack.unwrap_or_else(|| format!("alone {node}"))
    };
    nodes.into_iter().map(rack).collect::<BTreeSet<_>>().len()
}

/// Every partition is where the aim wants it.
pub fn assert_reached(cluster: &Cluster, aim: &Aim, wanted: impl Fn(&Partition) -> usize) {
    let staying: BTreeSet<i32> = cluster.staying().map(|it| it.node).collect();
    let most_racks = racks(cluster, staying.iter().copied());
    for partition in &cluster.partitions {
        let replicas: BTreeSet<i32> = partition.replicas.iter().copied().collect();
        assert_eq!(replicas.len(), partition.replicas.len(), "{partition:?} has one twice");
        assert!(replicas.is_subset(&staying), "{partition:?} is where it should not be");
        assert_eq!(replicas.len(), wanted(partition), "{partition:?}");
        if aim.spread {
            let possible = replicas.len().min(most_racks);
            assert_eq!(racks(cluster, replicas), possible, "racks of {partition:?}");
        }
    }
}

fn try_one(seed: u64) -> bool {
    let mut dice = Dice::new(seed);
    let mut cluster = cluster(&mut dice);
    let aim = aim(&mut dice, &cluster);
    if check(&cluster, &aim).is_err() {
        return false;
    }
    let first = plan(&cluster, &aim);
    assert_eq!(first, plan(&cluster, &aim), "seed {seed}: another plan for the same cluster");
    assert!(first.bytes >= first.lower_bound, "seed {seed}: below the bound");
    assert!(first.not_raised.is_empty() && first.unplaced.is_empty(), "seed {seed}");
    let staying = cluster.staying().count();
    let wanted: BTreeMap<_, _> = (cluster.partitions.iter())
        .map(|it| (it.name(), aim.replicas(it, it.replicas.len(), staying)))
        .collect();
    apply(&mut cluster, &first.moves);
    assert_reached(&cluster, &aim, |it| wanted[&it.name()]);
    let second = plan(&cluster, &aim);
    assert!(second.is_empty(), "seed {seed}: a plan of a plan has {:#?}", second.moves);
    true
}

#[test]
fn plans_of_random_clusters_reach_their_aim_and_are_the_end_of_it() {
    let planned = (0..4000).filter(|seed| try_one(*seed)).count();
    assert!(planned > 2000, "only {planned} could be planned");
}

/// Planned again after every batch, it still ends, and copies hardly more.
#[test]
fn small_batches_copy_hardly_more_than_the_plan() {
    let (mut planned, mut copied) = (0, 0);
    for seed in 0..500 {
        let mut dice = Dice::new(seed);
        let mut cluster = cluster(&mut dice);
        let aim = aim(&mut dice, &cluster);
        if check(&cluster, &aim).is_err() {
            continue;
        }
        planned += plan(&cluster, &aim).bytes;
        let limits = Limits { partitions: 1 + dice.index(5), bytes: GB / 2, leaders: 2 };
        let done = (0..1000).find(|_| match next_batch(&cluster, &aim, &limits) {
            Next::Reassign(moves) => {
                copied += moves.iter().map(|it| it.bytes).sum::<u64>();
                apply(&mut cluster, &moves);
                false
            }
            Next::SetMinIsr(all) => {
                for change in all {
                    let topic = cluster.partitions.iter_mut().filter(|it| it.topic == change.topic);
                    topic.for_each(|it| it.min_isr = change.to);
                }
                false
            }
            next => matches!(next, Next::Done | Next::ElectLeaders(_)),
        });
        assert!(done.is_some(), "seed {seed}: it does not end");
    }
    println!("{} GB were planned, {} GB copied", planned / GB, copied / GB);
    assert!(copied * 100 <= planned * 105, "{copied} of {planned}");
}

/// With many partitions that can go anywhere, all brokers end up within the bands.
#[test]
fn many_small_partitions_end_up_even() {
    for seed in 0..60 {
        let mut dice = Dice::new(seed);
        let number = 3 + dice.index(5);
        let mut cluster = Cluster { brokers: brokers(&mut dice, number), partitions: vec![] };
        cluster.brokers.iter_mut().for_each(|it| it.rack = None);
        let nodes: Vec<i32> = (1..).take(2 + dice.index(number - 1)).collect();
        for at in 0..200 {
            cluster.partitions.extend(topic(&mut dice, &format!("t{at}"), &nodes, 2));
        }
        let plan = plan(&cluster, &Aim::rebalance());
        apply_without_disks(&mut cluster, &plan.moves);
        let loads = loads(&cluster);
        let bytes: u64 = loads.values().map(|it| it.0).sum::<u64>() / loads.len() as u64;
        let leaders = cluster.partitions.len() / loads.len();
        for (node, load) in &loads {
            let what = format!("seed {seed}: {node} of {loads:?}");
            assert!(load.0 <= bytes + bytes / 20 + 1 && load.0 + bytes / 20 + 1 >= bytes, "{what}");
            assert!(load.1 <= leaders + leaders / 20 + 1, "{what}");
            assert!(load.1 + leaders / 20 + 1 >= leaders, "{what}");
        }
    }
}

fn apply_without_disks(cluster: &mut Cluster, moves: &[mover::Move]) {
    let targets: BTreeMap<_, _> = moves.iter().map(|it| (&it.partition, &it.to)).collect();
    for partition in &mut cluster.partitions {
        if let Some(to) = targets.get(&partition.name()) {
            partition.replicas.clone_from(to);
        }
    }
}
