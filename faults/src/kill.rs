//! kill -9.

use crate::{FaultError, Undo};
use host::ProcessId;

/// On return it has ended.
pub async fn inject(process: &ProcessId) -> Result<Undo, FaultError> {
    let watch = process.watch().ok_or(FaultError::Ended(process.pid))?;
    process.kill();
    watch.ended().await;
    Ok(Box::new(|| Ok(())))
}

#[cfg(test)]
mod tests {
    use crate::{Fault, FaultError};
    use host::{ProcessId, Spawn};

    fn sleeper(directory: &std::path::Path) -> Spawn {
        Spawn {
            program: "/bin/sleep".into(),
            arguments: vec!["1000".into()],
            environment: vec![],
            directory: directory.into(),
            output: directory.join("output"),
        }
    }

    #[tokio::test]
    async fn it_ends_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let (process, ended) = sleeper(directory.path()).start().unwrap();
        tokio::spawn(ended);
        let fault = Fault::kill(&process);
        let _gone = fault.inject().await.unwrap();
        assert!(!process.is_alive());
        assert!(matches!(fault.inject().await, Err(FaultError::Ended(_))));
    }

    #[tokio::test]
    async fn another_process_of_the_same_pid_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let (process, ended) = sleeper(directory.path()).start().unwrap();
        tokio::spawn(ended);
        let other = ProcessId { start_time: process.start_time - 1, ..process.clone() };
        assert!(matches!(Fault::kill(&other).inject().await, Err(FaultError::Ended(_))));
        assert!(matches!(Fault::Pause(other).inject().await, Err(FaultError::Ended(_))));
        assert!(process.is_alive() && !process.is_stopped());
        let _gone = Fault::kill(&process).inject().await.unwrap();
    }
}
