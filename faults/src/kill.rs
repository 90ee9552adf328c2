//! kill -9.

use crate::{FaultError, Undo};
use host::{ProcessId, Spawn};
use tokio::runtime::Handle;

/// On return it has ended.
pub async fn inject(process: &ProcessId, again: Option<Spawn>) -> Result<Undo, FaultError> {
    let watch = process.watch().ok_or(FaultError::Ended(process.pid))?;
    process.kill();
    watch.ended().await;
    // Starting needs the runtime, which a drop may be outside of.
    let runtime = Handle::current();
    Ok(Box::new(move || again.map(|spawn| start(&runtime, &spawn)).transpose()))
}

fn start(runtime: &Handle, spawn: &Spawn) -> Result<ProcessId, FaultError> {
    let _inside = runtime.enter();
    let (process, ended) = spawn.start().map_err(FaultError::at(&spawn.program))?;
    // Reaped in the background, so that an ended one is no zombie.
    runtime.spawn(ended);
    Ok(process)
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
    async fn it_ends_at_once_and_is_started_again_once() {
        let directory = tempfile::tempdir().unwrap();
        let spawn = sleeper(directory.path());
        let (process, ended) = spawn.start().unwrap();
        tokio::spawn(ended);
        let fault = Fault::Kill { process: process.clone(), again: Some(spawn) };
        let mut injected = fault.inject().await.unwrap();
        assert!(!process.is_alive());
        let again = injected.undo().await.unwrap().expect("it was started again");
        assert!(again.is_alive() && again != process);
        assert_eq!(injected.undo().await.unwrap(), None, "once is enough");
        assert!(matches!(fault.inject().await, Err(FaultError::Ended(_))));
        let _gone = Fault::kill(&again).inject().await.unwrap();
        assert!(!again.is_alive());
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
