//! How a session of processes is treated when processors are short.
//!
//! The kernel gives each session its share (`autogroup`), and a user may lower the share of
//! a session of theirs and raise it back, which they may not do with a process's own nice
//! value. It has no effect on processes in a group with a share of its own.

use crate::ProcessId;
use std::fs;
use std::io;

const LEAST: &str = "19";
const USUAL: &str = "0";

impl ProcessId {
    /// Lets everything else go first. It must lead a session of its own, or others
    /// would be slowed down as well.
    pub fn lower_priority(&self) -> io::Result<()> {
        self.set_share(LEAST)
    }

    /// Undoes that. The kernel takes ten such changes a second from all unprivileged users
    /// together; a change too many would block, and is to be tried again.
    pub fn restore_priority(&self) -> io::Result<()> {
        self.set_share(USUAL)
    }

    fn set_share(&self, nice: &str) -> io::Result<()> {
        if !self.is_alive() {
            return Err(io::ErrorKind::NotFound.into());
        }
        fs::write(format!("/proc/{}/autogroup", self.pid), nice)
    }
}

#[cfg(test)]
mod tests {
    use crate::Spawn;
    use std::fs;
    use std::path::Path;

    #[tokio::test]
    async fn a_session_steps_back_and_forth() {
        if !Path::new("/proc/self/autogroup").exists() {
            // A kernel without it: then there is nothing to be seen but the error.
            assert!(crate::ProcessId::own().lower_priority().is_err());
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let spawn = Spawn {
            program: "/bin/sleep".into(),
            arguments: vec!["1000".into()],
            environment: vec![],
            directory: directory.path().into(),
            output: directory.path().join("output"),
        };
        let (process, ended) = spawn.start().unwrap();
        let file = format!("/proc/{}/autogroup", process.pid);
        let check = |nice: &str| {
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.trim_end().ends_with(nice), "{text}");
        };
        let until = async |change: &dyn Fn() -> std::io::Result<()>| {
            while let Err(error) = change() {
                assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                tokio::task::yield_now().await;
            }
        };
        until(&|| process.lower_priority()).await;
        check("nice 19");
        until(&|| process.restore_priority()).await;
        check("nice 0");
        process.kill();
        ended.await;
        assert!(process.lower_priority().is_err());
    }
}
