//! How the deliveries to each destination go: what is reported of them, and what is counted.

use super::shared_tail::Kept;
use model::{IntegrationId, SignedDuration};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use wire::agent::FailedDelivery;

/// Shared by all senders.
#[derive(Clone, Default)]
pub struct Ledger(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    deliveries: BTreeMap<IntegrationId, Delivery>,
    /// What keeps all of them from getting anything.
    fault: Option<String>,
    counts: Counts,
}

#[derive(Default)]
struct Delivery {
    trouble: Option<String>,
    kept: Kept,
    /// Whether what is kept was looked at.
    is_known: bool,
    /// When it was last found that events were dropped, by a clock that never goes back.
    dropped_at: SignedDuration,
}

/// Since the agent began.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Events that a destination has taken.
    pub sent: u64,
    /// Events that a destination never gets.
    pub dropped: u64,
    /// Destinations that don't take events now.
    pub failing: usize,
}

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// From now on it is about these alone.
    pub fn keep_only(&self, ids: &BTreeSet<IntegrationId>) {
        let mut book = self.book();
        book.deliveries.retain(|id, _| ids.contains(id));
        for id in ids {
            book.deliveries.entry(*id).or_default();
        }
    }

    /// What went wrong with its settings before is of no interest any more.
    pub fn begin(&self, id: IntegrationId) {
        self.change(id, |delivery| delivery.trouble = None);
    }

    pub fn works(&self, id: IntegrationId) {
        self.begin(id);
    }

    /// True if it worked before.
    pub fn fails(&self, id: IntegrationId, sentence: String) -> bool {
        let mut worked = false;
        self.change(id, |delivery| worked = delivery.trouble.replace(sentence).is_none());
        worked
    }

    /// What keeps all of them from getting anything, if something does. True if nothing did
    /// before.
    pub fn set_fault(&self, fault: Option<&str>) -> bool {
        let mut book = self.book();
        let is_new = fault.is_some() && book.fault.is_none();
        book.fault = fault.map(str::to_owned);
        is_new
    }

    pub fn count_sent(&self, events: u64) {
        self.book().counts.sent += events;
    }

    fn change(&self, id: IntegrationId, change: impl FnOnce(&mut Delivery)) {
        if let Some(delivery) = self.book().deliveries.get_mut(&id) {
            change(delivery);
        }
    }

    /// Takes a look at what is kept for a destination. True if it has everything again, and
    /// what it never got has been reported for so long that it can be forgotten.
    pub fn look(
        &self,
        id: IntegrationId,
        kept: Kept,
        now: SignedDuration,
        shown: Duration,
    ) -> bool {
        let mut book = self.book();
        let Some(delivery) = book.deliveries.get_mut(&id) else { return false };
        let before = std::mem::replace(&mut delivery.kept, kept).dropped;
        let is_first = !std::mem::replace(&mut delivery.is_known, true);
        if is_first || kept.dropped > before {
            delivery.dropped_at = now;
        }
        let is_over = kept.dropped > 0
            && kept.behind == 0
            && delivery.trouble.is_none()
            && (now - delivery.dropped_at).unsigned_abs() >= shown;
        // What an earlier process found is no news.
        let more = if is_first { 0 } else { kept.dropped.saturating_sub(before) };
        book.counts.dropped += more;
        is_over
    }

    /// What is reported.
    pub fn failures(&self) -> Vec<FailedDelivery> {
        let book = self.book();
        let failed = book.deliveries.iter().map(|(id, delivery)| {
            let error = delivery.trouble.as_ref().or(book.fault.as_ref());
            let error = error.cloned().unwrap_or_default();
            FailedDelivery { id: *id, error, dropped: delivery.kept.dropped }
        });
        failed.filter(|failed| !failed.error.is_empty() || failed.dropped > 0).collect()
    }

    /// None while nothing is sent anywhere.
    pub fn counts(&self) -> Option<Counts> {
        let book = self.book();
        let fails = |delivery: &&Delivery| delivery.trouble.is_some() || book.fault.is_some();
        let failing = book.deliveries.values().filter(fails).count();
        (!book.deliveries.is_empty()).then_some(Counts { failing, ..book.counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: IntegrationId = IntegrationId(1);
    const SHOWN: Duration = Duration::from_mins(10);

    fn ledger() -> Ledger {
        let ledger = Ledger::default();
        ledger.keep_only(&[ID].into());
        ledger
    }

    fn reported(ledger: &Ledger) -> Option<(String, u64)> {
        let mut failures = ledger.failures();
        assert!(failures.len() <= 1);
        failures.pop().map(|failed| (failed.error, failed.dropped))
    }

    #[test]
    fn an_error_is_reported_until_it_works() {
        let ledger = ledger();
        assert_eq!(reported(&ledger), None);
        assert!(ledger.fails(ID, "it is away".into()), "that is news");
        assert!(!ledger.fails(ID, "it is slow".into()));
        assert_eq!(reported(&ledger), Some(("it is slow".into(), 0)));
        ledger.works(ID);
        assert_eq!(reported(&ledger), None);
        assert!(ledger.fails(ID, "it is away".into()), "that is news again");
        ledger.begin(ID);
        assert_eq!(reported(&ledger), None);
        assert!(!ledger.fails(IntegrationId(9), "of none".into()));
        assert_eq!(reported(&ledger), None);
    }

    #[test]
    fn a_fault_of_all_is_reported_for_those_without_an_error_of_their_own() {
        let ledger = ledger();
        let both = [ID, IntegrationId(2)].into();
        ledger.keep_only(&both);
        assert!(ledger.set_fault(Some("there is no room")));
        assert!(!ledger.set_fault(Some("there is still no room")));
        ledger.fails(ID, "it is away".into());
        let errors: Vec<String> = ledger.failures().into_iter().map(|it| it.error).collect();
        assert_eq!(errors, ["it is away", "there is still no room"]);
        assert_eq!(ledger.counts().unwrap().failing, 2);
        assert!(!ledger.set_fault(None));
        assert_eq!(ledger.failures().len(), 1);
        ledger.keep_only(&BTreeSet::new());
        assert_eq!((ledger.failures(), ledger.counts()), (vec![], None));
    }

    #[test]
    fn dropped_events_are_reported_for_a_while_and_counted_once() {
        let ledger = ledger();
        let look = |minute, behind, dropped| {
            ledger.look(ID, Kept { behind, dropped }, SignedDuration::from_mins(minute), SHOWN)
        };
        let counted = || ledger.counts().unwrap().dropped;
        // Found by an earlier process.
        assert!(!look(0, 0, 3));
        assert_eq!((reported(&ledger), counted()), (Some((String::new(), 3)), 0));
        assert!(!look(5, 0, 7));
        assert_eq!((reported(&ledger), counted()), (Some((String::new(), 7)), 4));
        assert!(!look(14, 0, 7), "too soon");
        assert!(!look(15, 1, 7), "something is still on its way");
        ledger.fails(ID, "it is away".into());
        assert!(!look(16, 0, 7), "it does not work");
        ledger.works(ID);
        assert!(look(17, 0, 7));
        assert!(!look(18, 0, 0));
        assert_eq!((reported(&ledger), counted()), (None, 4));
        assert!(!look(19, 0, 2));
        assert_eq!((reported(&ledger), counted()), (Some((String::new(), 2)), 6));
        ledger.count_sent(5);
        assert_eq!(ledger.counts(), Some(Counts { sent: 5, dropped: 6, failing: 0 }));
    }
}
