//! How many go into the next batch, by what became of the last. Pure.
//!
//! A batch that was refused as bad holds a bad one, which is found by halves. One that was too
//! large is followed by smaller ones, and those by larger ones as long as they are taken.

#[derive(Debug)]
pub struct Pace {
    most: usize,
    /// The end of what was refused together; what of it is left holds a bad one.
    suspects: usize,
    is_growing: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { most: usize::MAX, suspects: 0, is_growing: false }
    }
}

impl Pace {
    pub fn most(&self) -> usize {
        self.most
    }

    /// So many were taken, and the next one is at that place.
    pub fn taken(&mut self, written: usize, next: usize) {
        let left = self.suspects.saturating_sub(next);
        // A batch that is not as large as it might be is as large as others let it.
        self.is_growing &= written >= self.most;
        self.most = match (left, self.is_growing) {
            (1.., _) => left.div_ceil(2),
            (0, true) => written.saturating_mul(2),
            (0, false) => usize::MAX,
        };
    }

    /// So many were refused, up to that place.
    pub fn refused(&mut self, written: usize, end: usize) {
        self.suspects = end;
        self.most = written / 2;
    }

    pub fn too_large(&mut self, written: usize) {
        self.is_growing = true;
        self.most = written / 2;
    }

    /// What was refused was one alone; whether it is to blame shows with the next one.
    pub fn alone(&mut self) {
        self.suspects = 0;
        self.most = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many calls it takes to have all of them taken but the bad ones.
    fn calls(number: usize, bad: &[usize], limit: usize, is_size: bool) -> usize {
        let (mut pace, mut next, mut calls) = (Pace::default(), 0, 0);
        while next < number {
            let written = pace.most().min(limit).min(number - next);
            assert!(written > 0);
            calls += 1;
            let holds_bad = bad.iter().any(|it| (next..next + written).contains(it));
            match (holds_bad, written) {
                (false, _) => {
                    next += written;
                    pace.taken(written, next);
                }
                (true, 1) => {
                    assert!(bad.contains(&next));
                    next += 1;
                    if is_size {
                        pace.taken(1, next);
                    } else {
                        pace.alone();
                    }
                }
                (true, _) if is_size => pace.too_large(written),
                (true, _) => pace.refused(written, next + written),
            }
        }
        calls
    }

    #[test]
    fn a_bad_one_is_found_soon() {
        for number in [1, 2, 3, 10, 999, 1000, 5000] {
            assert_eq!(calls(number, &[], 1000, false), number.div_ceil(1000));
            for bad in [0, 1, number / 3, number / 2, number - 2.min(number), number - 1] {
                let calls = calls(number, &[bad], 1000, false);
                assert!(calls <= number.div_ceil(1000) + 14, "{calls} calls for {bad} of {number}");
            }
        }
        assert!(calls(5000, &[0, 1, 700, 4999], 1000, false) <= 5 + 4 * 14);
    }

    #[test]
    fn a_large_one_is_found_too() {
        for bad in [0, 1, 333, 500, 998, 999] {
            let calls = calls(1000, &[bad], 1000, true);
            assert!(calls <= 60, "{calls} calls for {bad}");
        }
    }

    #[test]
    fn batches_that_are_too_large_stay_small() {
        let (mut pace, mut next, mut calls) = (Pace::default(), 0, 0);
        while next < 5000 {
            let written = pace.most().min(1000).min(5000 - next);
            calls += 1;
            if written > 100 {
                pace.too_large(written);
            } else {
                next += written;
                pace.taken(written, next);
            }
        }
        assert!(calls < 5000 / 100 * 4, "{calls} calls");
    }
}
