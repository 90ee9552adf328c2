//! A real mail server for tests, none of our own code: aiosmtpd, in a process
//! that ends with the test's.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

pub struct Receiver {
    pub port: u16,
    lines: BufReader<ChildStdout>,
    /// Its standard input stays open as long as this lives.
    process: Child,
}

impl Receiver {
    /// `receive.py` says what the options are.
    pub fn start(options: &[(&str, &str)]) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../outbound/tests/receiver");
        #[expect(
            clippy::disallowed_methods,
            reason = "it must end with this process, by its input"
        )]
        let mut process = std::process::Command::new(python())
            .arg(here.join("receive.py"))
            .args(options.iter().flat_map(|(name, value)| [name, value]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let mut said = String::new();
        lines.read_line(&mut said).unwrap();
        let port = said.trim().strip_prefix("ready ").and_then(|port| port.parse().ok());
        let port = port.unwrap_or_else(|| panic!("aiosmtpd does not start: {said:?}"));
        Self { port, lines, process }
    }

    /// The next mail that came in; waits for it.
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no mail but {line:?}"))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It may have more to say than anybody reads.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The Python that `scripts/setup.sh test` has set up beside the build.
fn python() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let python = workspace.join(target).join("aiosmtpd/bin/python");
    assert!(python.exists(), "these tests need aiosmtpd; run: scripts/setup.sh test");
    python
}
