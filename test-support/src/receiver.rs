//! A script of Python's that receives something for a test, none of our own code:
//! it says where it listens, then a line of JSON for whatever comes, and ends with
//! the test's process.

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
    /// Of mails: aiosmtpd. `receive.py` says what the options are.
    pub fn of_mail(options: &[(&str, &str)]) -> Self {
        Self::run(&crate::python("aiosmtpd"), "mail", options)
    }

    /// Of calls: Python's web server. `receive.py` says what the options are.
    pub fn of_calls(options: &[(&str, &str)]) -> Self {
        Self::run(Path::new("python3"), "calls", options)
    }

    /// Of syslog: rsyslog. `receive.py` says what the options are.
    pub fn of_syslog(options: &[(&str, &str)]) -> Self {
        Self::run(Path::new("python3"), "syslog", options)
    }

    /// Of logs and metrics of Amazon's: moto, which tells what it has when it ends.
    pub fn of_aws() -> Self {
        Self::run(&crate::python("moto"), "aws", &[])
    }

    fn run(python: &Path, directory: &str, options: &[(&str, &str)]) -> Self {
        let script = crate::script(directory).join("receive.py");
        #[expect(
            clippy::disallowed_methods,
            reason = "it must end with this process, by its input"
        )]
        let mut process = std::process::Command::new(python)
            .arg("-B")
            .arg(&script)
            .args(options.iter().flat_map(|(name, value)| [name, value]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let mut said = String::new();
        lines.read_line(&mut said).unwrap();
        let port = said.trim().strip_prefix("ready ").and_then(|port| port.parse().ok());
        let port = port.unwrap_or_else(|| panic!("{} does not start: {said:?}", script.display()));
        Self { port, lines, process }
    }

    /// What came in next; waits for it.
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("nothing came but {line:?}"))
    }

    /// Whatever else came in, once it has ended.
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
