//! A disk that takes its time, for one process.

use crate::throttle::Throttle;
use crate::{FaultError, Undo};
use host::ProcessId;
use rustix::fs::{major, minor, stat};
use std::fs;
use std::path::{Path, PathBuf};

pub const WHAT: &str = "a slow disk";

pub fn inject(process: &ProcessId, directory: &Path, bytes: u64) -> Result<Undo, FaultError> {
    if !process.is_alive() {
        return Err(FaultError::Ended(process.pid));
    }
    let device = disk_of(directory)?;
    let throttle = Throttle::put(process, &device, bytes)?;
    Ok(Box::new(move || throttle.remove()))
}

/// The whole disk of a directory, as `major:minor`.
fn disk_of(directory: &Path) -> Result<String, FaultError> {
    let found = stat(directory).map_err(|error| FaultError::at(directory)(error.into()))?;
    let device = format!("{}:{}", major(found.st_dev), minor(found.st_dev));
    let sysfs = PathBuf::from("/sys/dev/block").join(&device);
    let Ok(sysfs) = sysfs.canonicalize() else {
        let reason = format!("{} is on no disk, but in memory", directory.display());
        return Err(FaultError::unavailable(WHAT, reason));
    };
    if !sysfs.join("partition").exists() {
        return Ok(device);
    }
    let whole = sysfs.join("../dev");
    let text = fs::read_to_string(&whole).map_err(FaultError::at(&whole))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use crate::testing::script;
    use crate::{Fault, FaultError};
    use host::ProcessId;
    use std::path::Path;
    use std::time::{Duration, Instant};

    const MEGABYTE: u64 = 1 << 20;
    /// Two megabytes, past the page cache, once there is a file `go`; then waits.
    const SCRIPT: &str = "until [ -e go ]; do sleep 0.01; done; \
        dd if=/dev/zero of=out bs=64k count=32 oflag=direct; touch done; sleep 1000";

    fn writer(directory: &Path) -> ProcessId {
        script(directory, SCRIPT)
    }

    #[tokio::test]
    async fn writes_take_their_time_until_undone() {
        // Beside what is built, which is on a disk where anything is.
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let process = writer(directory.path());
        let fault = Fault::SlowDisk {
            process: process.clone(),
            directory: directory.path().into(),
            bytes_per_second: MEGABYTE,
        };
        match fault.inject().await {
            Ok(mut injected) => {
                let began = Instant::now();
                std::fs::write(directory.path().join("go"), "").unwrap();
                while !directory.path().join("done").exists() {
                    assert!(began.elapsed() < Duration::from_mins(1), "it is not done");
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                let output = std::fs::read_to_string(directory.path().join("output")).unwrap();
                let took = began.elapsed();
                assert!(
                    took > Duration::from_millis(1200),
                    "two seconds' worth in {took:?}: {output}"
                );
                injected.undo().await.unwrap();
                injected.undo().await.unwrap();
            }
            Err(FaultError::Unavailable { reason, .. }) => host::testing::skip("groups", &reason),
            Err(error) => panic!("{error}"),
        }
        // It ends by itself once its child has.
        let children = process.children();
        process.kill();
        for child in children {
            child.kill();
        }
    }

    #[tokio::test]
    async fn memory_is_no_disk() {
        let process = ProcessId::own();
        let directory = "/dev/shm".into();
        let fault = Fault::SlowDisk { process, directory, bytes_per_second: MEGABYTE };
        let refused = fault.inject().await.map(drop).unwrap_err().to_string();
        assert!(refused.contains("is on no disk"), "{refused}");
    }
}
