//! SIGSTOP and SIGCONT.

use crate::{FaultError, Undo};
use host::ProcessId;
use rustix::process::Signal;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(2);
/// The kernel stops a process when its threads next look up.
const PATIENCE: Duration = Duration::from_secs(30);

/// On return all of them stand still. One that ends meanwhile does so, too.
pub async fn inject(processes: &[ProcessId]) -> Result<Undo, FaultError> {
    let processes = processes.to_vec();
    for process in &processes {
        if let Err(error) = stop(process).await {
            go_on(&processes);
            return Err(error);
        }
    }
    Ok(Box::new(move || {
        go_on(&processes);
        Ok(())
    }))
}

async fn stop(process: &ProcessId) -> Result<(), FaultError> {
    if !process.signal(Signal::STOP) {
        return Err(FaultError::Ended(process.pid));
    }
    let deadline = Instant::now() + PATIENCE;
    while !process.is_stopped() {
        if !process.is_alive() {
            return Err(FaultError::Ended(process.pid));
        }
        if Instant::now() > deadline {
            let reason = format!("process {} does not stop", process.pid);
            return Err(FaultError::unavailable("SIGSTOP", reason));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Who has ended needs no signal.
fn go_on(processes: &[ProcessId]) {
    for process in processes {
        process.signal(Signal::CONT);
    }
}

#[cfg(test)]
mod tests {
    use crate::Fault;
    use crate::testing::script;
    use host::ProcessId;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    /// Writes on and on.
    fn writer(directory: &Path) -> ProcessId {
        script(directory, "while :; do echo x; done")
    }

    async fn until_longer_than(file: &Path, length: u64) {
        let longer = async {
            while fs::metadata(file).unwrap().len() <= length {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), longer).await.expect("it goes on");
    }

    #[tokio::test]
    async fn it_stands_still_until_undone_or_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("output");
        let process = writer(directory.path());
        until_longer_than(&file, 0).await;
        let mut injected = Fault::Pause(process.clone()).inject().await.unwrap();
        assert!(process.is_stopped());
        let length = fs::metadata(&file).unwrap().len();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(fs::metadata(&file).unwrap().len(), length, "it went on");
        injected.undo().await.unwrap();
        until_longer_than(&file, length).await;

        drop(Fault::Pause(process.clone()).inject().await.unwrap());
        until_longer_than(&file, fs::metadata(&file).unwrap().len()).await;
        let _gone = Fault::kill(&process).inject().await.unwrap();
    }
}
