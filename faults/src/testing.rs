//! Processes for tests to be unlucky with.

use host::{ProcessId, Spawn};
use std::path::Path;

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
