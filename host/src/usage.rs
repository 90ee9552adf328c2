//! What one process takes of its host.

use procfs::process::Process;
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

#[cfg(test)]
mod tests {
    use super::*;

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
