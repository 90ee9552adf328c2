//! A script of Python's that receives something for a test, none of our own code:
//! it says where it listens, then a line of JSON for whatever comes, and ends with
//! the test's process.

use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// For one to end, on a machine that does much else. Longer than each waits for what it started.
const PATIENCE: Duration = Duration::from_secs(90);

pub struct Receiver {
    pub port: u16,
    /// What it says, until it has ended.
    lines: mpsc::Receiver<String>,
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

    /// Of OpenTelemetry's logs and metrics: the project's collector, which tells what it has when
    /// it ends.
    pub fn of_otlp() -> Self {
        let collector = crate::target().join("otel/collector");
        let there = collector.exists();
        assert!(there, "{} is not there; `scripts/setup.sh otel` builds it", collector.display());
        Self::run(Path::new("python3"), "otel", &[("collector", collector.to_str().unwrap())])
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
        let output = BufReader::new(process.stdout.take().unwrap());
        let (said, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                let _ = said.send(line.unwrap());
            }
        });
        let first = lines.recv().unwrap_or_default();
        let port = first.strip_prefix("ready ").and_then(|port| port.parse().ok());
        let port = port.unwrap_or_else(|| panic!("{} does not start: {first:?}", script.display()));
        Self { port, lines, process }
    }

    /// What came in next; waits for it.
    pub fn next(&mut self) -> Value {
        parse(&self.lines.recv().expect("it has ended, and nothing came"))
    }

    /// What came in next, if that comes in this time.
    pub fn next_within(&mut self, patience: Duration) -> Option<Value> {
        self.lines.recv_timeout(patience).ok().map(|line| parse(&line))
    }

    /// Whatever else came in, once it has ended.
    pub fn rest(mut self) -> Vec<Value> {
        drop(self.process.stdin.take());
        self.lines.iter().map(|line| parse(&line)).collect()
    }
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_| panic!("nothing came but {line:?}"))
}

impl Drop for Receiver {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends what it started and removes its files, unless it hangs.
        let begun = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
