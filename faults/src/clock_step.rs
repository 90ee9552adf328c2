//! Another time for our own processes: a file says how far their clocks are
//! off, in microseconds, and they look at each reading. Not in a release.

use crate::{FaultError, Step, Undo};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

pub fn inject(file: &Path, by: Step) -> Result<Undo, FaultError> {
    let before = match fs::read(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(FaultError::at(file)(error)),
    };
    let text = match by {
        Step::Forward(by) => by.as_micros().to_string(),
        Step::Back(by) => format!("-{}", by.as_micros()),
    };
    write(file, text.as_bytes())?;
    let file = file.to_owned();
    Ok(Box::new(move || write(&file, before.as_deref().unwrap_or(b"0"))))
}

/// Whole, because it may be read at any moment.
fn write(file: &Path, text: &[u8]) -> Result<(), FaultError> {
    host::write_atomic(file, text).map_err(FaultError::at(file))
}

#[cfg(test)]
mod tests {
    use crate::{Fault, Step};
    use std::fs;
    use std::time::Duration;

    #[tokio::test]
    async fn the_file_says_how_far_until_undone() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("clock");
        let read = || fs::read_to_string(&file).unwrap();
        let by = Step::Forward(Duration::from_secs(90));
        let mut ahead = Fault::ClockStep { file: file.clone(), by }.inject().await.unwrap();
        assert_eq!(read(), "90000000");
        let by = Step::Back(Duration::from_millis(1));
        let back = Fault::ClockStep { file: file.clone(), by }.inject().await.unwrap();
        assert_eq!(read(), "-1000");
        drop(back);
        assert_eq!(read(), "90000000");
        ahead.undo().await.unwrap();
        assert_eq!(read(), "0");
    }
}
