//! Lines by their numbers, which each has in its text: when it was written, and when it came.

use crate::fleet::tally::percentile;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

const MARK: &[u8] = b"line-";
const DIGITS: usize = 8;

#[derive(Default)]
pub struct Lines(Mutex<Vec<Line>>);

#[derive(Clone, Copy)]
struct Line {
    written: Instant,
    /// Seconds until it came for the first time.
    delay: f64,
    /// How often it came.
    seen: u32,
}

/// What became of some lines.
pub struct Outcome {
    pub lost: usize,
    pub doubled: u32,
    /// In seconds.
    pub delays: Vec<f64>,
}

/// The word by which a line is known.
pub fn word(number: usize) -> String {
    format!("line-{number:0DIGITS$}")
}

impl Lines {
    fn all(&self) -> MutexGuard<'_, Vec<Line>> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// The number of the next line that is written.
    pub fn end(&self) -> usize {
        self.all().len()
    }

    /// So many are written now.
    pub fn write(&self, count: usize) {
        let line = Line { written: Instant::now(), delay: f64::NAN, seen: 0 };
        let mut all = self.all();
        let end = all.len() + count;
        all.resize(end, line);
    }

    /// Notes every line that is in a text.
    pub fn look(&self, text: &[u8]) {
        let mut all = self.all();
        for number in numbers(text) {
            let Some(line) = all.get_mut(number) else { continue };
            line.seen += 1;
            if line.seen == 1 {
                line.delay = line.written.elapsed().as_secs_f64();
            }
        }
    }

    pub fn seen(&self, number: usize) -> u32 {
        self.all().get(number).map_or(0, |line| line.seen)
    }

    pub fn outcome(&self, of: Range<usize>) -> Outcome {
        let all = self.all();
        let lines = all.get(of).unwrap_or_default();
        let came = lines.iter().filter(|line| line.seen > 0);
        Outcome {
            lost: lines.iter().filter(|line| line.seen == 0).count(),
            doubled: came.clone().map(|line| line.seen - 1).sum(),
            delays: came.map(|line| line.delay).collect(),
        }
    }
}

impl Outcome {
    pub fn delay(&mut self, percent: usize) -> f64 {
        percentile(&mut self.delays, percent)
    }
}

fn numbers(text: &[u8]) -> impl Iterator<Item = usize> {
    let length = MARK.len() + DIGITS;
    let is_marked = move |at: &usize| text[*at..].starts_with(MARK);
    let number = move |at: usize| {
        let digits = text.get(at + MARK.len()..at + length)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    (0..text.len()).filter(is_marked).filter_map(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_by_their_words() {
        let lines = Lines::default();
        lines.write(3);
        lines.look(
            format!("{{\"a {} (x)\\n{}\"}} line-x line-0000000", word(0), word(2)).as_bytes(),
        );
        lines.look(word(2).as_bytes());
        lines.look(word(7).as_bytes());
        assert_eq!([0, 1, 2, 7].map(|number| lines.seen(number)), [1, 0, 2, 0]);
        let Outcome { lost, doubled, delays } = lines.outcome(0..lines.end());
        assert_eq!((lost, doubled, delays.len()), (1, 1, 2));
    }
}
