//! Logs go to standard error, as lines for people. `RUST_LOG` chooses.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Begins logging at this level unless `RUST_LOG` says otherwise.
pub fn start(level: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    // A second start, as in tests, keeps the first.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .try_init();
}
