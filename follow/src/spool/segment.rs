//! The files of a spool, and what a crash left of them.

use crate::disk;
use crate::frame::{self, HEAD, Head};
use crate::state::State;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".spool";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// In its file's name.
    pub number: u64,
    /// The number of its first event.
    pub first: u64,
    /// In bytes.
    pub length: u64,
    /// The length of its first frame, which has all of the state.
    pub state: u64,
}

pub fn path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:012}{SUFFIX}"))
}

/// Makes one whose first frame is this, durably.
pub fn create(
    directory: &Path,
    number: u64,
    first: u64,
    frame: &[u8],
) -> io::Result<(File, Segment)> {
    let path = path(directory, number);
    let made = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .and_then(|file| {
            file.write_all_at(frame, 0)?;
            file.sync_data()?;
            host::sync_dir(directory)?;
            Ok(file)
        });
    if made.is_err() {
        let _ = fs::remove_file(&path);
    }
    let length = frame.len() as u64;
    Ok((made?, Segment { number, first, length, state: length }))
}

/// What is in a directory.
pub struct Recovered {
    pub segments: VecDeque<Segment>,
    pub last: Option<File>,
    pub next: u64,
    pub end: u64,
    pub state: State,
}

/// The state of the last segment that has one, and the segments before it. What is behind the
/// last whole frame is cut off: a process was killed while it wrote it, or it is on a bad
/// sector.
pub fn recover_all(directory: &Path) -> io::Result<Recovered> {
    let mut numbers = numbers(directory)?;
    let next = numbers.last().map_or(0, |last| last + 1);
    while let Some(number) = numbers.pop() {
        let path = path(directory, number);
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        let Some((segment, end, state)) = recover(&file, number)? else {
            fs::remove_file(&path)?;
            continue;
        };
        file.set_len(segment.length)?;
        let mut segments = VecDeque::new();
        for number in numbers {
            segments.extend(look(directory, number)?);
        }
        segments.push_back(segment);
        return Ok(Recovered { segments, last: Some(file), next, end, state });
    }
    let (segments, state) = (VecDeque::new(), State::default());
    Ok(Recovered { segments, last: None, next, end: 0, state })
}

/// In order.
fn numbers(directory: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)?.parse::<u64>().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// A segment with the number of its next event and its state. None without a whole frame.
fn recover(file: &File, number: u64) -> io::Result<Option<(Segment, u64, State)>> {
    let mut found: Option<(Segment, u64, State)> = None;
    let (mut offset, mut body) = (0, Vec::new());
    while let Some(head) = read_head(file, offset)? {
        let is_next = found.as_ref().is_none_or(|(_, end, _)| *end == head.first);
        if !is_next || !read_body(file, offset, &head, &mut body)? {
            break;
        }
        let Some(change) = head.split(&body).and_then(|(_, state)| frame::state(state)) else {
            break;
        };
        offset += size(&head);
        let (segment, end, state) = found.get_or_insert_with(|| {
            let segment = Segment { number, first: head.first, length: 0, state: offset };
            (segment, head.first, State::default())
        });
        segment.length = offset;
        *end = head.end();
        state.apply(change);
    }
    Ok(found)
}

/// An older segment by its first frame. It is removed if that can't be read.
fn look(directory: &Path, number: u64) -> io::Result<Option<Segment>> {
    let path = path(directory, number);
    let file = File::open(&path)?;
    let length = file.metadata()?.len();
    let Some(head) = read_head(&file, 0)? else {
        fs::remove_file(&path)?;
        return Ok(None);
    };
    Ok(Some(Segment { number, first: head.first, length, state: size(&head) }))
}

/// How many bytes a frame is.
pub fn size(head: &Head) -> u64 {
    (HEAD + head.length) as u64
}

/// None where no frame begins.
pub fn read_head(file: &File, offset: u64) -> io::Result<Option<Head>> {
    let mut bytes = [0; HEAD];
    let is_read = disk::read_exact(file, &mut bytes, offset)?;
    Ok(Head::parse(&bytes).filter(|_| is_read))
}

/// False where there is less of it.
pub fn read_body(file: &File, offset: u64, head: &Head, body: &mut Vec<u8>) -> io::Result<bool> {
    let end = offset + size(head);
    if file.metadata()?.len() < end {
        return Ok(false);
    }
    body.resize(head.length, 0);
    disk::read_exact(file, body, offset + HEAD as u64)
}
