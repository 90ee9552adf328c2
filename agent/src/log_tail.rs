//! The last lines that a broker wrote, for a person who asks why it ended.
//!
//! Only what this start wrote counts: an old error would mislead.

use crate::place::Place;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

const LINES: usize = 20;
/// More than twenty lines of a stack trace, and little to read.
const WINDOW: u64 = 16 * 1024;
/// Longer lines say nothing more.
const WIDTH: usize = 500;

/// How long the files were when the broker started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    log: u64,
    output: u64,
}

impl Marks {
    pub fn now(place: &Place) -> Self {
        Self { log: length(&place.server_log()), output: length(&place.broker_output()) }
    }

    /// The end of the broker's log; of its output, if it never came to logging.
    pub fn tail(self, place: &Place) -> Vec<String> {
        let log = tail(&place.server_log(), self.log);
        if log.is_empty() { tail(&place.broker_output(), self.output) } else { log }
    }
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

fn tail(path: &Path, mark: u64) -> Vec<String> {
    let read = || {
        let mut file = File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        // A file shorter than before is a new one after a rotation.
        let from = if length < mark { 0 } else { mark };
        file.seek(SeekFrom::Start(from.max(length.saturating_sub(WINDOW)))).ok()?;
        let mut bytes = Vec::new();
        file.take(WINDOW).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| line.chars().take(WIDTH).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_the_end_of_what_this_start_wrote_is_shown() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        assert!(Marks::now(&place).tail(&place).is_empty());
        fs::write(place.server_log(), "an old error\n").unwrap();
        let marks = Marks::now(&place);
        fs::write(place.broker_output(), "Unrecognized VM option\n").unwrap();
        assert_eq!(marks.tail(&place), ["Unrecognized VM option"]);

        let lines: Vec<String> = (0..30).map(|line| format!("line {line}\n")).collect();
        let lines = lines.join("\n");
        fs::write(place.server_log(), format!("an old error\n{lines}")).unwrap();
        let shown = marks.tail(&place);
        assert_eq!(shown.len(), 20);
        assert_eq!((shown[0].as_str(), shown[19].as_str()), ("line 10", "line 29"));

        fs::write(place.server_log(), "rotated\n").unwrap();
        assert_eq!(marks.tail(&place), ["rotated"]);
    }
}
