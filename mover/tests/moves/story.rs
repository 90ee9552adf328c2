//! An operation from its beginning to its end, a line for each thing that was done.

use crate::world::{apply, write};
use mover::{Aim, Cluster, Limits, Next, PartitionName, next_batch};

/// Carries everything out at once and without bad luck.
pub fn tell(cluster: &mut Cluster, aim: &Aim) -> Vec<String> {
    let mut story = Vec::new();
    for _ in 0..1000 {
        let next = next_batch(cluster, aim, &Limits::default());
        story.extend(lines(&next));
        match next {
            Next::MendElr(topics) => {
                for topic in topics {
                    let of_topic =
                        cluster.partitions.iter_mut().filter(|it| it.topic == topic.topic);
                    of_topic.for_each(|it| it.elr = vec![]);
                }
            }
            Next::Cancel(names) => {
                let is_it = |it: &&mut mover::Partition| names.contains(&it.name());
                for partition in cluster.partitions.iter_mut().filter(is_it) {
                    partition.replicas = partition.original();
                    partition.reassignment = None;
                }
            }
            Next::SetMinIsr(all) => {
                for change in all {
                    let of_topic =
                        cluster.partitions.iter_mut().filter(|it| it.topic == change.topic);
                    of_topic.for_each(|it| it.min_isr = change.to);
                }
            }
            Next::Reassign(moves) => apply(cluster, &moves),
            Next::ElectLeaders(names) => {
                for partition in &mut cluster.partitions {
                    if names.contains(&partition.name()) {
                        partition.leader = partition.replicas.first().copied();
                    }
                }
            }
            Next::Wait(_) | Next::Done => return story,
        }
    }
    panic!("it does not end: {:#?}", &story[story.len() - 20..]);
}

fn lines(next: &Next) -> Vec<String> {
    match next {
        Next::MendElr(topics) => {
            topics.iter().map(|it| format!("mend {} {:?}", it.topic, it.partitions)).collect()
        }
        Next::SetMinIsr(all) => {
            all.iter().map(|it| format!("min ISR {}: {} → {}", it.topic, it.from, it.to)).collect()
        }
        Next::Reassign(moves) => moves
            .iter()
            .map(|it| format!("{}: {} → {}", it.partition, write(&it.from), write(&it.to)))
            .collect(),
        Next::Cancel(names) => vec![format!("cancel {}", list(names))],
        Next::ElectLeaders(names) => vec![format!("elect {}", list(names))],
        Next::Wait(reasons) => reasons.iter().map(|it| format!("wait: {it}")).collect(),
        Next::Done => vec!["done".to_owned()],
    }
}

fn list(names: &[PartitionName]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
