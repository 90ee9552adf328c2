//! The ends of a server's logs: enough to see what happened, never so much
//! that a bundle can't be sent.
//!
//! They lie in a directory of the server's own user, who may put links there to what is
//! no log. None is followed.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

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

/// The logs in a directory of a server's, or at its top, newest first. One that can't be
/// read says why in its place.
pub fn tails(server: &Path, directory: &str) -> io::Result<Vec<Log>> {
    let path = server.join(directory);
    if fs::symlink_metadata(&path)?.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the directory is a link"));
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(&path)? {
        let entry = entry?;
        if let Ok(metadata) = entry.metadata()
            && metadata.is_file()
            && is_log(&entry.file_name().to_string_lossy())
        {
            let file = Path::new(directory).join(entry.file_name());
            files.push((metadata.modified()?, entry.file_name(), file));
        }
    }
    files.sort_by(|one, two| two.cmp(one));
    files.truncate(FILES);
    let log = |(_, name, file): &(_, std::ffi::OsString, PathBuf)| Log {
        name: name.to_string_lossy().into_owned(),
        text: tail(server, file, TAIL_BYTES)
            .unwrap_or_else(|error| format!("can't be read: {error}\n")),
    };
    Ok(files.iter().map(log).collect())
}

/// Keys and tokens lie in the same directories.
fn is_log(name: &str) -> bool {
    name.contains(".log") || name == "broker.out"
}

/// Whole lines only: half of one could be half of a secret.
fn tail(server: &Path, file: &Path, bytes: u64) -> io::Result<String> {
    let mut file = host::open_beneath(server, file)?;
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
        fs::write(directory.path().join("server.log"), "first\nsecond\nthird\n").unwrap();
        let tail = |bytes| tail(directory.path(), Path::new("server.log"), bytes).unwrap();
        assert_eq!(tail(100), "first\nsecond\nthird\n");
        let cut = tail(9);
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
        let found = tails(directory.path(), "logs").unwrap();
        assert_eq!(found.len(), FILES);
        assert!(found.iter().all(|log| log.name.starts_with("server.log.")), "{found:?}");
        assert!(tails(directory.path(), "absent").is_err());
        std::os::unix::fs::symlink("logs", directory.path().join("linked")).unwrap();
        assert!(tails(directory.path(), "linked").is_err());
        assert!(tail(directory.path(), Path::new("linked/server.log.1"), 9).is_err());
    }
}
