//! A real receiver of calls for tests, none of our own code: Python's web
//! server, in a process that ends with the test's.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
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
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../outbound/tests/http");
        #[expect(
            clippy::disallowed_methods,
            reason = "it must end with this process, by its input"
        )]
        let mut process = std::process::Command::new("python3")
            .arg("-B")
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
        let port = port.unwrap_or_else(|| panic!("the receiver does not start: {said:?}"));
        Self { port, lines, process }
    }

    /// What it saw next; waits for it.
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no call but {line:?}"))
    }

    /// Whatever else it saw, once it has ended.
    pub fn rest(mut self) -> Vec<Value> {
        drop(self.process.stdin.take());
        let lines = self.lines.by_ref().lines();
        lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
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
