//! Processes for tests to be unlucky with.

use host::{ProcessId, Spawn};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs a script in the directory, where its output goes to `output`.
pub fn script(directory: &Path, script: &str) -> ProcessId {
    let spawn = Spawn {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![],
        directory: directory.into(),
        output: directory.join("output"),
    };
    let (process, ended) = spawn.start().expect("a shell starts");
    tokio::spawn(ended);
    process
}

const IDLE: &str = "
class Idle {
    public static void main(String[] arguments) throws InterruptedException {
        System.out.println(\"idle\");
        Thread.sleep(Long.MAX_VALUE);
    }
}
";

/// A JVM that does nothing; on return it has come so far.
pub async fn idle_jvm(directory: &Path) -> ProcessId {
    fs::write(directory.join("Idle.java"), IDLE).expect("a directory of the test's own");
    let process = script(directory, "exec java -Xmx128m -XX:+UseSerialGC Idle.java");
    let began = Instant::now();
    loop {
        let said = fs::read_to_string(directory.join("output")).unwrap_or_default();
        if said.lines().any(|line| line == "idle") {
            return process;
        }
        assert!(process.is_alive(), "Java does not start: {said}");
        assert!(began.elapsed() < Duration::from_mins(1), "Java does not come so far: {said}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
