//! The cluster that all parts of the tour share, made when the first one needs it.

use crate::basics::create;
use crate::rolled::until_configured;
use libtest_mimic::{Arguments, Conclusion, Trial};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use test_support::clients::Clients;
use test_support::installation::Installation;
use test_support::kcat::Kcat;
use test_support::left_over::LeftOver;
use tokio::runtime::Runtime;

/// A machine on which no cluster comes up twice in a row fails every part that is left.
const ATTEMPTS: usize = 2;

/// An installation with a cluster that runs, and what parts leave for later ones.
pub struct Tour {
    pub castellan: Installation,
    /// As the API tells it at the beginning of a part.
    pub instance: Value,
    pub id: i64,
    pub kcat: Kcat,
    /// What there was before the cluster.
    pub before: LeftOver,
    /// Clients that logged in, one of which is revoked; of a user that is still there.
    pub certified: Option<Clients>,
    /// The last number that the writer had acknowledged.
    pub acknowledged: Option<u64>,
}

impl Tour {
    /// A customer has logged in by both mechanisms when this returns, and left two messages.
    async fn begin() -> Self {
        let castellan = Installation::start().await;
        let before = LeftOver::of(&castellan).await;
        let instance = create(&castellan, &json!({})).await;
        let id = instance["id"].as_i64().unwrap();
        let kcat = Kcat::new(&castellan, &instance).await;
        kcat.write("SCRAM-SHA-256", "one").await;
        kcat.write("SCRAM-SHA-512", "two").await;
        assert_eq!(kcat.read("tour", "SCRAM-SHA-512").await, ["one", "two"]);
        Self { castellan, instance, id, kcat, before, certified: None, acknowledged: None }
    }

    /// Nothing that an earlier part asked for is still going on.
    async fn comes_to_rest(&mut self) {
        until_configured(&self.castellan, self.id).await;
        self.instance = self.castellan.until_running(self.id).await;
    }
}

/// The tests of this program.
pub struct Parts {
    trials: Vec<Trial>,
    runtime: Arc<Runtime>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    tour: Mutex<Option<Tour>>,
    /// How many clusters in a row did not come up.
    in_vain: AtomicUsize,
}

impl Shared {
    /// The cluster at rest, or a new one.
    async fn take(&self) -> Tour {
        let earlier = self.tour.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut tour) = earlier {
            tour.comes_to_rest().await;
            return tour;
        }
        let in_vain = self.in_vain.fetch_add(1, Ordering::Relaxed);
        assert!(in_vain < ATTEMPTS, "no cluster came up for the parts before");
        let tour = Tour::begin().await;
        self.in_vain.store(0, Ordering::Relaxed);
        tour
    }

    fn put(&self, tour: Tour) {
        *self.tour.lock().unwrap_or_else(PoisonError::into_inner) = Some(tour);
    }
}

impl Parts {
    pub fn new() -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = Arc::new(runtime.worker_threads(2).enable_all().build().unwrap());
        Self { trials: Vec::new(), runtime, shared: Arc::default() }
    }

    /// A part on the cluster that all share. If it panics, the cluster goes with it.
    pub fn add(&mut self, name: &str, part: impl AsyncFnOnce(&mut Tour) + Send + 'static) {
        let shared = self.shared.clone();
        self.add_apart(name, async move || {
            let mut tour = shared.take().await;
            part(&mut tour).await;
            shared.put(tour);
        });
    }

    /// The part that ends the cluster.
    pub fn add_last(&mut self, name: &str, part: impl AsyncFnOnce(Tour) + Send + 'static) {
        let shared = self.shared.clone();
        self.add_apart(name, async move || part(shared.take().await).await);
    }

    /// A part that has nothing to do with that cluster.
    pub fn add_apart(&mut self, name: &str, part: impl AsyncFnOnce() + Send + 'static) {
        let runtime = self.runtime.clone();
        let run = move || {
            runtime.block_on(part());
            Ok(())
        };
        self.trials.push(Trial::test(name, run));
    }

    /// Whatever happened, nothing of it runs any more when this returns.
    pub fn run(self, arguments: &Arguments) -> Conclusion {
        let conclusion = libtest_mimic::run(arguments, self.trials);
        let left = self.shared.tour.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(tour) = left {
            self.runtime.block_on(tour.castellan.purge());
        }
        conclusion
    }
}
