//! From each new desired state to certificates on disk and a goal.

use crate::board::Board;
use crate::certificates;
use crate::goal::Goal;
use crate::place::Place;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use wire::agent::{Desired, Run};

/// After a failure to write, which a person may have mended.
const AGAIN: Duration = Duration::from_secs(5);

/// Ends when the sender of desired documents is gone.
pub async fn keep(
    place: Place,
    mut desired: watch::Receiver<Option<Desired>>,
    board: Board,
    goal: watch::Sender<Goal>,
) {
    loop {
        let present = desired.borrow_and_update().clone();
        let is_done = present.is_none_or(|present| apply(&place, &present, &board, &goal));
        let changed = if is_done {
            desired.changed().await
        } else {
            timeout(AGAIN, desired.changed()).await.unwrap_or(Ok(()))
        };
        if changed.is_err() {
            return;
        }
    }
}

/// Whether everything could be written.
fn apply(place: &Place, desired: &Desired, board: &Board, goal: &watch::Sender<Goal>) -> bool {
    board.set_revision(desired.revision, desired.store_epoch);
    let (next, is_done) = match certificates::apply(place, desired) {
        Ok(applied) => {
            board.set_certificates(applied.requests, applied.installed);
            (Goal::from_desired(desired, &applied.missing), true)
        }
        // A stop needs no certificates.
        Err(_) if desired.run == Run::Stopped => (Goal::Stopped, false),
        Err(error) => {
            tracing::warn!(%error, "certificates can't be applied");
            (Goal::Wait(error.to_string()), false)
        }
    };
    goal.send_if_modified(|present| {
        let is_new = *present != next;
        *present = next;
        is_new
    });
    is_done
}
