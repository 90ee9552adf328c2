//! How long to wait after failures in a row.

use std::time::Duration;

const LONGEST: Duration = Duration::from_mins(1);

/// 1, 2, 4 … 60 seconds.
pub fn after(failures: u32) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(6);
    Duration::from_secs(seconds).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_minute() {
        let seconds: Vec<u64> = (0..9).map(|n| after(n).as_secs()).collect();
        assert_eq!(seconds, [1, 1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
