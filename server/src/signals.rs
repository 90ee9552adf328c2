//! Being asked to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Returns when Ctrl-C or SIGTERM comes.
pub async fn stop_asked() {
    let mut terminate = signal(SignalKind::terminate()).expect("SIGTERM can be listened for");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
