//! What names mean, asked within bounds. Customers choose the names, and may have
//! them answered late or never: of the threads that wait for answers there are only
//! so many, and a look-up that takes too long fails in time.

use async_trait::async_trait;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// For a name, waiting for a turn included; less than a call may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// What names mean.
#[async_trait]
pub trait Lookup: Send + Sync {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// As this machine is set up to know it.
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A look-up of which so many go on at once, and none is waited for too long.
pub struct Bounded {
    lookup: Arc<dyn Lookup>,
    permits: Arc<Semaphore>,
    patience: Duration,
}

impl Bounded {
    pub fn new(lookup: Arc<dyn Lookup>, at_once: usize) -> Self {
        Self { lookup, permits: Arc::new(Semaphore::new(at_once)), patience: PATIENCE }
    }

    async fn ask(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(io::Error::other)?;
        let (lookup, name) = (Arc::clone(&self.lookup), name.to_owned());
        // A thread waits for the resolver even after the caller has given up, so the permit
        // is held until that thread is free.
        let asked = tokio::spawn(async move {
            let found = lookup.addresses(&name).await;
            drop(permit);
            found
        });
        asked.await.map_err(io::Error::other)?
    }
}

#[async_trait]
impl Lookup for Bounded {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = timeout(self.patience, self.ask(name)).await;
        found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Never answers for `stuck.test`.
    #[derive(Default)]
    struct Slow {
        stuck: AtomicUsize,
    }

    #[async_trait]
    impl Lookup for Slow {
        async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            if name == "stuck.test" {
                self.stuck.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<()>().await;
            }
            Ok(vec![IpAddr::from([1, 1, 1, 1])])
        }
    }

    #[tokio::test]
    async fn look_ups_without_an_answer_are_left_and_still_counted() {
        let slow = Arc::new(Slow::default());
        let bounded =
            Bounded { patience: Duration::from_millis(300), ..Bounded::new(slow.clone(), 2) };
        assert_eq!(bounded.addresses("good.test").await.unwrap().len(), 1);
        for asked in 1..=2 {
            let error = bounded.addresses("stuck.test").await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert_eq!(slow.stuck.load(Ordering::SeqCst), asked);
        }
        for name in ["stuck.test", "good.test"] {
            let error = bounded.addresses(name).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{name}");
        }
        assert_eq!(slow.stuck.load(Ordering::SeqCst), 2, "no more than two at once");
    }
}
