//! Memory that is held for nothing, inside a JVM.

use crate::guest::{self, Guest};
use crate::{FaultError, Undo};
use host::ProcessId;

const FILL_MEMORY: Guest = Guest {
    what: "filled memory",
    name: "FillMemory",
    source: include_str!("../java/FillMemory.java"),
};

pub async fn inject(jvm: &ProcessId, bytes: u64) -> Result<Undo, FaultError> {
    guest::inject(jvm, &FILL_MEMORY, &bytes.to_string()).await
}

#[cfg(test)]
mod tests {
    use crate::Fault;
    use crate::testing::idle_jvm;

    /// More than a JVM takes and gives back by itself.
    const BYTES: u64 = 256 << 20;

    #[tokio::test]
    async fn memory_is_taken_until_undone_or_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let jvm = idle_jvm(directory.path()).await;
        let resident = || host::usage(jvm.pid).unwrap().resident;
        for dropped in [false, true] {
            let before = resident();
            let fault = Fault::FillMemory { process: jvm.clone(), bytes: BYTES };
            let mut injected = fault.inject().await.unwrap();
            let (full, expected) = (resident(), before + BYTES / 4 * 3);
            assert!(full > expected, "{before} before, {full} with {BYTES} more");
            if dropped {
                drop(injected);
            } else {
                injected.undo().await.unwrap();
                injected.undo().await.unwrap();
            }
            let after = resident();
            assert!(after < before + BYTES / 4, "{before} before, {after} after");
        }
        assert!(jvm.is_alive(), "its host is well");
        let _gone = Fault::kill(&jvm).inject().await.unwrap();
    }
}
