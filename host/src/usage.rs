//! What processes take of their host.

use procfs::process::Process;
use std::collections::BTreeSet;
use std::time::Duration;

/// Counted since the process began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Tells a process from a later one with the same pid.
    pub started: u64,
    pub cpu: Duration,
    /// Bytes in memory now.
    pub resident: u64,
    /// Bytes that went to and from disks.
    pub read: u64,
    pub written: u64,
}

/// None if there is no such process, or it is another user's.
pub fn usage(pid: i32) -> Option<Usage> {
    let process = Process::new(pid).ok()?;
    let stat = process.stat().ok()?;
    let io = process.io().ok()?;
    let ticks = stat.utime + stat.stime;
    Some(Usage {
        started: stat.starttime,
        cpu: Duration::from_millis(ticks * 1000 / procfs::ticks_per_second()),
        resident: stat.rss * procfs::page_size(),
        read: io.read_bytes,
        written: io.write_bytes,
    })
}

/// These processes and all that they started, as far as the kernel tells.
pub fn with_children(pids: &[i32]) -> BTreeSet<i32> {
    let mut all = BTreeSet::new();
    let mut next = pids.to_vec();
    while let Some(pid) = next.pop() {
        if all.insert(pid) {
            next.extend(children(pid));
        }
    }
    all
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = Process::new(pid).and_then(|process| process.tasks()) else { return vec![] };
    let of_each = tasks.flatten().filter_map(|task| task.children().ok());
    of_each.flatten().filter_map(|pid| pid.try_into().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child that ends with its input")]
    fn what_a_child_started_belongs_to_us() {
        let own = i32::try_from(std::process::id()).unwrap();
        let mut shell = std::process::Command::new("sh");
        // In the background a shell's input is empty, unless it is told otherwise.
        let shell = shell.args(["-c", "exec 3<&0; cat <&3 & echo started; wait"]);
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let pid = i32::try_from(shell.id()).unwrap();
        let all = with_children(&[own, i32::MAX]);
        assert!(all.contains(&own) && all.contains(&pid), "{all:?}");
        let below = with_children(&[pid]);
        assert_eq!(below.len(), 2, "the shell and its cat: {below:?}");
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(with_children(&[pid]), BTreeSet::from([pid]));
    }

    #[test]
    fn this_process_takes_something_and_none_takes_nothing() {
        let own = i32::try_from(std::process::id()).unwrap();
        let before = usage(own).unwrap();
        assert!(before.resident > 100_000, "{before:?}");
        // Work until the clock of the kernel has moved.
        let after = loop {
            let after = usage(own).unwrap();
            if after.cpu > before.cpu {
                break after;
            }
        };
        assert_eq!(after.started, before.started);
        assert_eq!(usage(i32::MAX), None);
    }
}
