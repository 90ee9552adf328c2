//! Reading of files of which a part may be missing, or stand on a bad sector.
//!
//! A bad sector is not read by trying again, so it is skipped like bytes that were lost. Every
//! other error may go away.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;

/// The error that the system returns for a bad sector.
const INPUT_OUTPUT_ERROR: i32 = 5;

pub fn is_bad_sector(error: &io::Error) -> bool {
    error.raw_os_error() == Some(INPUT_OUTPUT_ERROR)
}

/// False where the file has less, or has it on a bad sector.
pub fn read_exact(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<bool> {
    match file.read_exact_at(bytes, offset) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof || is_bad_sector(&error) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// As much as there is before the end or a bad sector. That is an error if no more than `known`
/// bytes are before it.
pub fn read(file: &File, bytes: &mut [u8], offset: u64, known: usize) -> io::Result<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_bad_sector(&error) && length > known => break,
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_sector_is_not_the_end_of_a_file() {
        // Nothing is at the first addresses, and the system says so as of a bad sector.
        let bad = File::open("/proc/self/mem").unwrap();
        let mut bytes = [0; 8];
        assert!(!read_exact(&bad, &mut bytes, 0).unwrap());
        let error = read(&bad, &mut bytes, 0, 0).unwrap_err();
        assert!(is_bad_sector(&error), "{error}");

        let mut short = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut short, b"12345").unwrap();
        assert!(read_exact(&short, &mut bytes[..5], 0).unwrap());
        assert!(!read_exact(&short, &mut bytes, 0).unwrap());
        assert_eq!(read(&short, &mut bytes, 1, 0).unwrap(), 4);
    }
}
