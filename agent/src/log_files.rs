//! Bounds for the files that processes print to: `agent.log`, which is this process's own
//! output, and the JVM's. Kafka's log rolls by itself.
//!
//! Both are written by descriptors that were opened for appending and outlive an upgrade of
//! the agent, so a file is copied and emptied, and its writer goes on at its new end. A line
//! that is printed in between is lost. After a crash in between the same is done again.

use crate::place::Place;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;

/// There is one earlier file of the same size beside each.
const MOST: u64 = 8 << 20;
const LOOK: Duration = Duration::from_secs(10);

/// Never ends by itself.
pub async fn keep_small(place: Place) {
    loop {
        let files = [place.agent_log(), place.broker_output()];
        let kept = move || files.iter().try_for_each(|file| rotate(file, MOST));
        // A disk that hangs keeps only this one waiting.
        if let Ok(Err(error)) = tokio::task::spawn_blocking(kept).await {
            tracing::debug!(%error, "a log could not be put aside");
        }
        sleep(LOOK).await;
    }
}

/// Puts a file of more than so many bytes aside, in the place of the one before. Where
/// there is no room for a copy, what was printed is given up: the bound holds.
fn rotate(file: &Path, most: u64) -> io::Result<()> {
    match file.metadata() {
        Ok(found) if found.len() > most => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => return Ok(()),
    }
    let earlier = earlier(file);
    let _ = fs::remove_file(&earlier);
    if fs::copy(file, &earlier).is_err() {
        let _ = fs::remove_file(&earlier);
    }
    OpenOptions::new().write(true).open(file)?.set_len(0)
}

fn earlier(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_file_that_a_process_prints_to_stays_within_its_bound() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("agent.log");
        rotate(&file, 100).unwrap();
        // As a process has it that was started long ago.
        let mut output = OpenOptions::new().create(true).append(true).open(&file).unwrap();
        for number in 0..1000 {
            writeln!(output, "line {number:04}").unwrap();
            rotate(&file, 100).unwrap();
            let sizes =
                [&file, &earlier(&file)].map(|file| file.metadata().map_or(0, |it| it.len()));
            assert!(sizes.iter().all(|size| *size <= 110), "{sizes:?}");
        }
        let lines =
            fs::read_to_string(earlier(&file)).unwrap() + &fs::read_to_string(&file).unwrap();
        assert!(lines.ends_with("line 0998\nline 0999\n"), "{lines}");
        assert!(lines.lines().count() >= 10, "the earlier file is kept: {lines}");
        assert!(!lines.contains('\0'), "the writer went on where it was");
    }

    #[test]
    fn where_no_copy_can_be_made_the_bound_still_holds() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("agent.log");
        fs::write(&file, [b'x'; 200]).unwrap();
        fs::create_dir(earlier(&file)).unwrap();
        rotate(&file, 100).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
