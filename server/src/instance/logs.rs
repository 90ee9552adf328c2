//! The ends of a server's logs: enough to see what happened, never so much
//! that a bundle can't be sent.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Of each file, its last bytes.
const TAIL_BYTES: u64 = 1 << 20;
/// Of each server, its newest files.
const FILES: usize = 8;

/// One log's end.
#[derive(Debug)]
pub struct Log {
    pub name: String,
    pub text: String,
}

/// The logs in a directory, newest first. One that can't be read says why
/// in its place.
pub fn tails(directory: &Path) -> io::Result<Vec<Log>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // A link could lead to what is no log.
        if let Ok(metadata) = entry.metadata()
            && metadata.is_file()
            && is_log(&entry.file_name().to_string_lossy())
        {
            files.push((metadata.modified()?, entry.file_name(), entry.path()));
        }
    }
    files.sort_by(|one, two| two.cmp(one));
    files.truncate(FILES);
    let log = |(_, name, path): &(_, std::ffi::OsString, std::path::PathBuf)| Log {
        name: name.to_string_lossy().into_owned(),
        text: tail(path, TAIL_BYTES).unwrap_or_else(|error| format!("can't be read: {error}\n")),
    };
    Ok(files.iter().map(log).collect())
}

/// Keys and tokens lie in the same directories.
fn is_log(name: &str) -> bool {
    name.contains(".log") || name == "broker.out"
}

/// Whole lines only: half of one could be half of a secret.
fn tail(path: &Path, bytes: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let left_out = size.saturating_sub(bytes);
    file.seek(SeekFrom::Start(left_out))?;
    let mut read = Vec::new();
    // A log grows while it is read.
    file.take(bytes).read_to_end(&mut read)?;
    let text = String::from_utf8_lossy(&read).into_owned();
    if left_out == 0 {
        return Ok(text);
    }
    let whole = text.find('\n').map_or("", |end| &text[end + 1..]);
    Ok(format!("[{left_out} bytes before this are left out]\n{whole}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_cut_at_a_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("server.log");
        fs::write(&path, "first\nsecond\nthird\n").unwrap();
        assert_eq!(tail(&path, 100).unwrap(), "first\nsecond\nthird\n");
        let cut = tail(&path, 9).unwrap();
        assert_eq!(cut, "[10 bytes before this are left out]\nthird\n");
    }

    #[test]
    fn only_logs_are_taken_and_not_too_many() {
        let directory = tempfile::tempdir().unwrap();
        let logs = directory.path().join("logs");
        fs::create_dir(&logs).unwrap();
        fs::write(directory.path().join("key"), "k3y").unwrap();
        std::os::unix::fs::symlink("../key", logs.join("link.log")).unwrap();
        fs::write(logs.join("start.json"), "t0ken").unwrap();
        for number in 0..FILES + 3 {
            fs::write(logs.join(format!("server.log.{number}")), "x").unwrap();
        }
        let found = tails(&logs).unwrap();
        assert_eq!(found.len(), FILES);
        assert!(found.iter().all(|log| log.name.starts_with("server.log.")), "{found:?}");
        assert!(tails(&directory.path().join("absent")).is_err());
    }
}
