//! What a JVM is warmed up with before it is needed: a throw-away server that it runs once
//! (`broker-jar`, `Rehearsal`). Then it waits for the order to run a real one.

use crate::throwaway;
use crate::versions::{Logging, Release};
use std::fs;
use std::io;
use std::path::Path;

/// Words that such a JVM writes to its state file after its pid; from its order on that is
/// `run/warm` in the directory of its server.
pub const READY: &str = "ready";
pub const TAKEN: &str = "taken";
pub const FAILED: &str = "failed";

/// The line on its standard input that makes it the broker of a server, in that directory,
/// which is absolute. Anything else, and the end of its input, ends it.
pub fn order(directory: &Path) -> String {
    format!("start {}\n", directory.display())
}

/// Fills a directory that must be empty and that the JVM removes. Loopback ports are chosen
/// here, so a rehearsal follows at once.
pub fn prepare(release: &'static Release, directory: &Path) -> io::Result<()> {
    // The least memory there is: its buffers need not hold anything.
    let mut spec = throwaway::spec(release, "rehearsal", 0)?;
    spec.cores = 1;
    // A reporter can't be taken out of a JVM again.
    spec.listeners.metrics = None;
    spec.settings.insert("metric.reporters".into(), String::new());
    if release.adds_jmx {
        spec.settings.insert("auto.include.jmx.reporter".into(), "false".into());
    }
    let made = throwaway::fill(directory, spec)?;
    fs::write(directory.join(made.rendered.logging_file), silence(release.logging))
}

/// The real server's log tells of the real server alone.
const fn silence(logging: Logging) -> &'static str {
    match logging {
        Logging::Reload4j => "log4j.rootLogger=OFF\n",
        Logging::Log4j2 => "status = error\nrootLogger.level = off\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::PROPERTIES_FILE;
    use crate::versions;

    #[test]
    fn a_rehearsal_reports_to_nobody_and_logs_nothing() {
        for release in versions::all() {
            let directory = tempfile::tempdir().unwrap();
            prepare(release, directory.path()).unwrap();
            let properties = fs::read_to_string(directory.path().join(PROPERTIES_FILE)).unwrap();
            assert!(properties.contains("\nmetric.reporters=\n"), "{properties}");
            assert!(!properties.contains("prometheus"), "{properties}");
            let listeners = properties.lines().find(|line| line.starts_with("listeners="));
            let on_loopback = listeners.unwrap().matches("://127.63.255.1:").count();
            assert_eq!(on_loopback, 5, "{properties}");
            let logging = crate::render::logging_file(release.logging);
            let logging = fs::read_to_string(directory.path().join(logging)).unwrap();
            assert!(logging.to_lowercase().contains("off"), "{logging}");
        }
    }
}
