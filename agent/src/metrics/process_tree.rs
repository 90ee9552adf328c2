//! What agent and broker take of the host together, with all that they started.
//!
//! Servers share a host, so the host's own counters are of no use. A process that
//! was not there at the look before adds to memory alone.

use super::number;
use host::Usage;
use model::Series;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Default)]
pub struct ProcessTree {
    before: BTreeMap<i32, Usage>,
}

impl ProcessTree {
    /// `passed` is the time since the last look.
    pub fn look(&mut self, pids: &[i32], passed: Duration) -> Vec<(Series, f64)> {
        let all = host::with_children(pids);
        let now = all.into_iter().filter_map(|pid| Some((pid, host::usage(pid)?))).collect();
        let values = compare(&self.before, &now, passed);
        self.before = now;
        values
    }
}

fn compare(
    before: &BTreeMap<i32, Usage>,
    now: &BTreeMap<i32, Usage>,
    passed: Duration,
) -> Vec<(Series, f64)> {
    let resident = now.values().map(|usage| usage.resident).sum();
    let mut values = vec![(Series::MemoryUsed, number(resident))];
    let (mut cpu, mut read, mut written, mut known) = (Duration::ZERO, 0, 0, 0);
    for (pid, now) in now {
        let Some(before) = before.get(pid).filter(|before| before.started == now.started) else {
            continue;
        };
        known += 1;
        cpu += now.cpu.saturating_sub(before.cpu);
        read += now.read.saturating_sub(before.read);
        written += now.written.saturating_sub(before.written);
    }
    let seconds = passed.as_secs_f64();
    if known > 0 && seconds > 0.0 {
        values.push((Series::CpuCores, cpu.as_secs_f64() / seconds));
        values.push((Series::DiskRead, number(read) / seconds));
        values.push((Series::DiskWritten, number(written) / seconds));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(started: u64, cpu: u64, resident: u64, written: u64) -> Usage {
        Usage { started, cpu: Duration::from_secs(cpu), resident, read: 0, written }
    }

    #[test]
    fn two_looks_tell_what_was_taken_between_them() {
        let before = BTreeMap::from([(1, usage(5, 10, 100, 0)), (2, usage(6, 20, 100, 1000))]);
        let now = BTreeMap::from([(1, usage(5, 11, 110, 0)), (2, usage(6, 24, 200, 3000))]);
        let check = |before: &BTreeMap<i32, Usage>, expected: &[(Series, f64)]| {
            assert_eq!(compare(before, &now, Duration::from_secs(10)), expected);
        };
        let memory = (Series::MemoryUsed, 310.0);
        let rates = [
            memory,
            (Series::CpuCores, 0.5),
            (Series::DiskRead, 0.0),
            (Series::DiskWritten, 200.0),
        ];
        check(&before, &rates);
        check(&BTreeMap::new(), &[memory]);
        // The broker's pid is another process by now.
        let reused = BTreeMap::from([(1, usage(5, 10, 100, 0)), (2, usage(1, 20, 100, 9000))]);
        let rates =
            [memory, (Series::CpuCores, 0.1), (Series::DiskRead, 0.0), (Series::DiskWritten, 0.0)];
        check(&reused, &rates);
    }

    #[test]
    fn this_process_can_be_looked_at() {
        let own = i32::try_from(std::process::id()).unwrap();
        let mut tree = ProcessTree::default();
        assert_eq!(tree.look(&[own, i32::MAX], Duration::from_secs(1)).len(), 1);
        assert_eq!(tree.look(&[own, i32::MAX], Duration::from_secs(1)).len(), 4);
    }
}
