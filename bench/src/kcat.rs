//! The client that writes first: the same one on both sides.

use anyhow::{Result, bail};
use std::path::Path;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(1);

/// Writes one message with acks=all; tries again until it is acknowledged.
pub async fn write(settings: &[String]) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "first")?;
    let path = file.path().to_string_lossy().into_owned();
    let mut arguments: Vec<&str> = vec!["-P", "-t", "first", "-X", "acks=all"];
    arguments.extend(["-X", "reconnect.backoff.ms=20", "-X", "retry.backoff.ms=20"]);
    arguments.extend(settings.iter().map(String::as_str));
    arguments.push(&path);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let output = host::run_output(Path::new("kcat"), &arguments, None).await?;
        if output.status.success() {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("kcat can't write: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
