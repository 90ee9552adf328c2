//! Samples that the control plane may still want. Pure.
//!
//! A sample is forgotten once it was taken and is on the control plane's disk, or
//! after half an hour: one window that was lost with a control plane's memory, and
//! ten minutes without one, fit in.

use super::Sample;
use std::collections::VecDeque;
use wire::metrics::Taken;

/// Half an hour.
const MOST: usize = 180;
/// In one call.
const BATCH: usize = 60;

#[derive(Default)]
pub struct Kept {
    samples: VecDeque<Entry>,
    window: Option<String>,
}

struct Entry {
    sample: Sample,
    /// Into the window that we know of.
    taken: bool,
}

impl Kept {
    /// A clock that was set back does not make two samples of one time.
    pub fn push(&mut self, sample: Sample) {
        if self.samples.back().is_some_and(|last| last.sample.at == sample.at) {
            self.samples.pop_back();
        }
        self.samples.push_back(Entry { sample, taken: false });
        if self.samples.len() > MOST {
            self.samples.pop_front();
        }
    }

    /// What is to be sent now, oldest first.
    pub fn due(&self) -> Vec<Sample> {
        let waiting = self.samples.iter().filter(|entry| !entry.taken);
        waiting.take(BATCH).map(|entry| entry.sample.clone()).collect()
    }

    /// After an answer to what was sent.
    pub fn answered(&mut self, sent: &[Sample], answer: &Taken) {
        if self.window.as_ref() != Some(&answer.window) {
            self.forget(answer.kept_through);
            self.samples.iter_mut().for_each(|entry| entry.taken = false);
            self.window = Some(answer.window.clone());
        }
        for entry in &mut self.samples {
            entry.taken |= sent.iter().any(|sample| sample.at == entry.sample.at);
        }
        self.forget(answer.kept_through);
    }

    fn forget(&mut self, kept_through: i64) {
        self.samples.retain(|entry| !entry.taken || entry.sample.at > kept_through);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: i64) -> Sample {
        Sample { at, ..<_>::default() }
    }

    fn kept(times: impl IntoIterator<Item = i64>) -> Kept {
        let mut kept = Kept::default();
        times.into_iter().for_each(|at| kept.push(sample(at)));
        kept
    }

    fn due(kept: &Kept) -> Vec<i64> {
        kept.due().iter().map(|sample| sample.at).collect()
    }

    fn answer(kept: &mut Kept, window: &str, kept_through: i64) {
        let sent = kept.due();
        kept.answered(&sent, &Taken { window: window.into(), kept_through });
    }

    #[test]
    fn what_was_taken_is_not_sent_again_and_forgotten_once_it_is_on_disk() {
        let mut kept = kept([10, 20, 30]);
        assert_eq!(due(&kept), [10, 20, 30]);
        answer(&mut kept, "a", 0);
        assert_eq!((due(&kept), kept.samples.len()), (vec![], 3));
        kept.push(sample(40));
        assert_eq!(due(&kept), [40]);
        answer(&mut kept, "a", 20);
        assert_eq!((due(&kept), kept.samples.len()), (vec![], 2));
    }

    #[test]
    fn a_new_control_plane_gets_all_that_is_on_no_disk() {
        let mut kept = kept([10, 20, 30]);
        answer(&mut kept, "a", 0);
        // The control plane is away.
        kept.push(sample(40));
        // The next one has the first on disk, and nothing in memory.
        answer(&mut kept, "b", 10);
        assert_eq!(due(&kept), [20, 30]);
        answer(&mut kept, "b", 10);
        assert_eq!((due(&kept), kept.samples.len()), (vec![], 3));
    }

    #[test]
    fn what_was_never_taken_is_sent_though_later_ones_are_on_disk() {
        let mut kept = kept([10, 20]);
        kept.answered(&[sample(20)], &Taken { window: "a".into(), kept_through: 20 });
        assert_eq!(due(&kept), [10]);
        answer(&mut kept, "a", 20);
        assert_eq!(kept.samples.len(), 0);
    }

    #[test]
    fn it_holds_half_an_hour_and_sends_ten_minutes_at_a_time() {
        let mut kept = kept((0..200).map(|at| at * 10));
        assert_eq!(kept.samples.len(), MOST);
        assert_eq!(due(&kept), (20..80).map(|at| at * 10).collect::<Vec<_>>());
        kept.push(sample(1990));
        assert_eq!(kept.samples.len(), MOST, "the same time twice");
    }
}
