//! How full the server's disk is. A disk may be a directory of a file system
//! that others share, so what is used is counted file by file.

use std::fs;
use std::io;
use std::path::Path;

/// Bytes that the files of a directory take. Files that go meanwhile are not
/// counted, and links are not followed.
pub fn used(root: &Path) -> io::Result<u64> {
    let mut waiting = vec![fs::canonicalize(root)?];
    let mut bytes = 0;
    while let Some(directory) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            bytes += host::taken(&metadata);
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_below_counts_once() {
        let directory = tempfile::tempdir().unwrap();
        let disk = directory.path().join("disk");
        fs::create_dir_all(disk.join("topic-0")).unwrap();
        let empty = used(&disk).unwrap();
        fs::write(disk.join("topic-0/log"), vec![1; 100_000]).unwrap();
        std::os::unix::fs::symlink(disk.join("topic-0/log"), disk.join("link")).unwrap();
        // Not on the disk at all.
        fs::write(directory.path().join("other"), vec![1; 1_000_000]).unwrap();
        let full = used(&disk).unwrap();
        assert!((100_000..200_000).contains(&(full - empty)), "{empty} {full}");
        assert!(used(&disk.join("nowhere")).is_err());
        // The disk may be reached by a link.
        let link = directory.path().join("by-link");
        std::os::unix::fs::symlink(&disk, &link).unwrap();
        assert_eq!(used(&link).unwrap(), full);
    }
}
