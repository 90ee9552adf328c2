//! Reading a history's file.

use super::{Event, History, Run};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("{} can't be read", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("line {line} of {} is no part of a history", path.display())]
    Line { path: PathBuf, line: usize, source: serde_json::Error },
    #[error("{} is empty", .0.display())]
    Empty(PathBuf),
}

impl History {
    /// Reads a file that a load wrote. Whoever was killed may have left half a
    /// line at the end, which is left out.
    pub fn load(path: &Path) -> Result<Self, HistoryError> {
        let io = |source| HistoryError::Io { path: path.into(), source };
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        let mut text = String::new();
        let mut next = |text: &mut String| -> Result<bool, HistoryError> {
            text.clear();
            file.read_line(text).map_err(io)?;
            Ok(text.ends_with('\n'))
        };
        let wrong = |line| move |source| HistoryError::Line { path: path.into(), line, source };
        if !next(&mut text)? {
            return Err(HistoryError::Empty(path.into()));
        }
        let run: Run = serde_json::from_str(&text).map_err(wrong(1))?;
        let mut events: Vec<Event> = Vec::new();
        while next(&mut text)? {
            events.push(serde_json::from_str(&text).map_err(wrong(events.len() + 2))?);
        }
        Ok(Self { run, events })
    }
}
