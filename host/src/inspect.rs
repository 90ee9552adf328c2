//! Looking at processes that run: what they were started with.
//!
//! It only reads `/proc`; what it can't read is not ours and is left out.

use crate::ProcessId;
use procfs::process::{Process, all_processes};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::OsString;

impl ProcessId {
    /// The program and its arguments; empty if it has ended.
    pub fn command_line(&self) -> Vec<String> {
        let read = || Process::new(self.pid).ok()?.cmdline().ok();
        let command_line = read().unwrap_or_default();
        if self.is_alive() { command_line } else { Vec::new() }
    }

    /// Whether a signal has stopped it; it goes on with another.
    pub fn is_stopped(&self) -> bool {
        let state = || Some(Process::new(self.pid).ok()?.stat().ok()?.state);
        state() == Some('T') && self.is_alive()
    }

    /// The processes that it has started and that still run.
    pub fn children(&self) -> Vec<ProcessId> {
        let Ok(processes) = all_processes() else { return Vec::new() };
        let is_child = |process: &Process| process.stat().is_ok_and(|stat| stat.ppid == self.pid);
        let found = processes.flatten().filter(is_child);
        let found: Vec<_> =
            found.filter_map(|process| ProcessId::from_pid(process.pid())).collect();
        if self.is_alive() { found } else { Vec::new() }
    }

    /// Takes the exit status of a child that another program image of ours
    /// started, so that it does not stay a zombie. Anything else is untouched.
    pub fn reap(&self) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| !self.is_alive()) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// The processes that were started with `name=value` in their environment, or
/// by one that was. Only this user's can be seen.
pub fn with_environment(name: &str, value: &str) -> Vec<ProcessId> {
    let found = with_variable(name).into_iter();
    found.filter(|(present, _)| present == value).map(|(_, process)| process).collect()
}

/// The same for a variable of any value, with that value.
pub fn with_variable(name: &str) -> Vec<(OsString, ProcessId)> {
    let name = OsString::from(name);
    let Ok(processes) = all_processes() else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|process| {
            let value = process.environ().ok()?.remove(&name)?;
            Some((value, ProcessId::from_pid(process.pid())?))
        })
        .collect()
}

/// Whether any process runs as that user.
pub fn has_processes(uid: u32) -> bool {
    let Ok(mut processes) = all_processes() else { return false };
    processes.any(|process| process.and_then(|it| it.status()).is_ok_and(|it| it.ruid == uid))
}

/// The processes that run as that user.
pub fn of_user(uid: u32) -> Vec<ProcessId> {
    let Ok(processes) = all_processes() else { return Vec::new() };
    let is_theirs = |process: &Process| process.status().is_ok_and(|it| it.ruid == uid);
    let found = processes.flatten().filter(is_theirs);
    found.filter_map(|process| ProcessId::from_pid(process.pid())).collect()
}

/// How many processors the host gives us. A limit of our group does not count.
pub fn processors() -> usize {
    let allowed = rustix::thread::sched_getaffinity(None).map(|set| set.count());
    allowed.map_or(1, |count| usize::try_from(count).unwrap_or(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spawn;

    #[tokio::test]
    async fn a_process_is_found_by_its_environment_and_shows_its_command() {
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().to_string_lossy().into_owned();
        let spawn = Spawn {
            program: "/bin/sleep".into(),
            arguments: vec!["1000".into()],
            environment: vec![("HOST_TEST_MARK".into(), mark.clone())],
            directory: directory.path().into(),
            output: directory.path().join("output"),
        };
        let (identity, ended) = spawn.start().unwrap();
        assert_eq!(with_environment("HOST_TEST_MARK", &mark), std::slice::from_ref(&identity));
        assert_eq!(with_environment("HOST_TEST_MARK", "another"), []);
        assert_eq!(identity.command_line(), ["/bin/sleep", "1000"]);
        identity.kill();
        ended.await;
        assert_eq!(with_environment("HOST_TEST_MARK", &mark), []);
        assert!(identity.command_line().is_empty());
    }
}
