//! When a move will be ready: a whole operation with its batches, its pauses and a throttle
//! that adapts, and what was foretold on the way.

use crate::world::{Build, GB, apply, cluster};
use mover::{Aim, Cluster, Limits, Next, Observed, Progress, Throttle, next_of_plan, plan};
use std::time::Duration;

const LOOK: Duration = Duration::from_secs(5);
const THROTTLE: Throttle = Throttle { least: 10_000_000, most: 100_000_000 };

/// A cluster that is moved, by the second.
struct Operation {
    cluster: Cluster,
    throttle: u64,
    progress: Progress,
    /// When, and how many seconds it would still take.
    foretold: Vec<(u64, u64)>,
    bytes_done: u64,
}

impl Operation {
    /// Brokers copy side by side, as many bytes a second as the throttle allows.
    fn look(&mut self, copied: u64, bytes_left: u64) {
        self.bytes_done += copied;
        self.progress = self.progress.observe(LOOK, self.bytes_done, bytes_left);
        if let Some(left) = self.progress.time_left() {
            self.foretold.push((self.progress.elapsed.as_secs(), left.as_secs()));
        }
        let p99 = Duration::from_millis(20 + self.throttle / 8_000_000);
        let baseline = Some(Duration::from_millis(20));
        let observed = Observed { p99: Some(p99), baseline, disk: 0.4 };
        self.throttle = THROTTLE.next(self.throttle, &observed);
    }

    fn run(&mut self, aim: &Aim, brokers: u64) {
        loop {
            let limits = Limits::default().lasting(Duration::from_mins(1), self.throttle);
            let plan = plan(&self.cluster, aim);
            match next_of_plan(&self.cluster, aim, &plan, &limits) {
                Next::Reassign(moves) => {
                    let mut left: u64 = moves.iter().map(|it| it.bytes).sum();
                    let after = plan.bytes_left() - left;
                    while left > 0 {
                        let copied = left.min(self.throttle * brokers * LOOK.as_secs());
                        left -= copied;
                        self.look(copied, after + left);
                    }
                    apply(&mut self.cluster, &moves);
                    // Until the end of the batch is seen.
                    self.look(0, after);
                }
                Next::ElectLeaders(names) => {
                    for partition in &mut self.cluster.partitions {
                        if names.contains(&partition.name()) {
                            partition.leader = partition.replicas.first().copied();
                        }
                    }
                }
                Next::Done => return,
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn the_end_is_foretold_within_a_quarter_from_the_first_minute_on() {
    let mut five = cluster("1 2 3 4 5");
    for at in 0..40 {
        five = five.topic(&format!("t{at}"), GB * (1 + at % 7), 2, "1 2 3, 2 3 1, 3 1 2");
    }
    let aim = Aim::grow(3, true);
    let mut operation = Operation {
        throttle: THROTTLE.first(),
        progress: Progress::begin(0, plan(&five, &aim).bytes_left()),
        cluster: five,
        foretold: vec![],
        bytes_done: 0,
    };
    operation.run(&aim, 2);
    let end = operation.progress.elapsed.as_secs();
    let due = operation.foretold.iter().filter(|(at, _)| *at >= 60 && *at + 60 <= end);
    let error = |(at, left): &(u64, u64)| left.abs_diff(end - at) * 100 / (end - at);
    let worst = due.map(error).max().unwrap();
    println!("{} GB in {end} s, off by {worst} % at worst", operation.bytes_done / GB);
    assert!(worst < 25, "{worst} %: {:?} of {end}", operation.foretold);
}
