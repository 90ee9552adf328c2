//! Another time for this process, so that a test can step its clock while it
//! runs. Not in a release.
//!
//! `CASTELLAN_TEST_CLOCK` names a file, and in it is how far the clock is off,
//! in microseconds. It is looked at whenever the time is asked for; agents are
//! started with the same variable and so see the same time.

use jiff::{SignedDuration, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static FILE: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os("CASTELLAN_TEST_CLOCK").map(PathBuf::from));

pub fn from(now: Timestamp) -> Timestamp {
    FILE.as_deref().map_or(now, |file| off_by(now, file))
}

/// A file that is not there, or makes no sense, is no step.
fn off_by(now: Timestamp, file: &Path) -> Timestamp {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let by = text.trim().parse().map(SignedDuration::from_micros).unwrap_or_default();
    now.checked_add(by).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_how_far() {
        let file = std::env::temp_dir().join(format!("castellan-clock-{}", std::process::id()));
        let now: Timestamp = "2026-11-15T07:00:30Z".parse().unwrap();
        let check = |text: &str, expected: &str| {
            std::fs::write(&file, text).unwrap();
            assert_eq!(off_by(now, &file).to_string(), expected, "{text}");
        };
        check("90000000", "2026-11-15T07:02:00Z");
        check("-30000000\n", "2026-11-15T07:00:00Z");
        check("", "2026-11-15T07:00:30Z");
        check("soon", "2026-11-15T07:00:30Z");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(off_by(now, &file), now);
    }
}
