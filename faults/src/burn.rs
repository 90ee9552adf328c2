//! A core that is busy with nothing, inside a JVM.

use crate::guest::{self, Guest};
use crate::{FaultError, Undo};
use host::ProcessId;

const BURN: Guest =
    Guest { what: "a burning core", name: "Burn", source: include_str!("../java/Burn.java") };

pub async fn inject(jvm: &ProcessId) -> Result<Undo, FaultError> {
    guest::inject(jvm, &BURN, "").await
}

#[cfg(test)]
mod tests {
    use crate::testing::{idle_jvm, script};
    use crate::{Fault, FaultError};
    use host::ProcessId;
    use std::time::{Duration, Instant};

    fn taken(process: &ProcessId) -> Duration {
        host::usage(process.pid).unwrap().cpu
    }

    async fn until_burnt(process: &ProcessId, more: Duration) {
        let (began, before) = (Instant::now(), taken(process));
        while taken(process) < before + more {
            // One that does nothing takes no tenth of it in that time.
            assert!(began.elapsed() < Duration::from_secs(20), "nothing burns");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    #[tokio::test]
    async fn a_core_is_busy_until_undone_or_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let jvm = idle_jvm(directory.path()).await;
        for dropped in [false, true] {
            let mut injected = Fault::Burn(jvm.clone()).inject().await.unwrap();
            until_burnt(&jvm, Duration::from_secs(2)).await;
            if dropped {
                drop(injected);
            } else {
                injected.undo().await.unwrap();
                injected.undo().await.unwrap();
            }
            let before = taken(&jvm);
            tokio::time::sleep(Duration::from_millis(400)).await;
            let more = taken(&jvm).saturating_sub(before);
            assert!(more < Duration::from_millis(200), "it burns on: {more:?}");
        }
        assert!(jvm.is_alive(), "its host is well");
        let _gone = Fault::kill(&jvm).inject().await.unwrap();
        assert!(matches!(Fault::Burn(jvm).inject().await, Err(FaultError::Ended(_))));
    }

    #[tokio::test]
    async fn a_host_that_ends_takes_its_guest_along() {
        let directory = tempfile::tempdir().unwrap();
        let jvm = idle_jvm(directory.path()).await;
        let mut injected = Fault::Burn(jvm.clone()).inject().await.unwrap();
        let _gone = Fault::kill(&jvm).inject().await.unwrap();
        injected.undo().await.unwrap();
    }

    #[tokio::test]
    async fn what_is_no_jvm_takes_no_guests() {
        let directory = tempfile::tempdir().unwrap();
        let shell = script(directory.path(), "while :; do sleep 0.01; done");
        let refused = Fault::Burn(shell.clone()).inject().await.map(drop).unwrap_err().to_string();
        assert!(refused.ends_with("is no Java"), "{refused}");
        assert!(shell.is_alive());
        let _gone = Fault::kill(&shell).inject().await.unwrap();
    }
}
