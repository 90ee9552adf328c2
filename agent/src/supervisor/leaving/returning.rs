//! Whether a broker that is stopped to be started anew could be started: with everything that
//! a start looks at and looks for. As long as it could not, it runs on.

use super::Supervisor;
use crate::board::Board;
use crate::disk;
use crate::goal::{Goal, Orders};
use crate::launcher::Launcher;
use crate::place::Place;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;

pub(super) struct Returning {
    place: Place,
    launcher: Arc<dyn Launcher>,
    board: Board,
    /// None if the broker is stopped for good.
    orders: Option<Arc<Orders>>,
    /// Until the board says what takes so long.
    patience: Duration,
}

impl Returning {
    /// Of the broker that is wanted now.
    pub(super) fn new(supervisor: &Supervisor) -> Self {
        let orders = match &*supervisor.goal.borrow() {
            Goal::Running(orders) => Some(orders.clone()),
            Goal::Stopped | Goal::Wait(_) => None,
        };
        Self {
            place: supervisor.place.clone(),
            launcher: supervisor.launcher.clone(),
            board: supervisor.board.clone(),
            orders,
            patience: supervisor.pace.claim,
        }
    }

    /// Why the broker would stay away. It takes as long as it takes to get what is missing,
    /// and the board says what that is. Can be dropped at any point.
    pub(super) async fn obstacle(&self) -> Option<String> {
        let orders = self.orders.as_ref()?;
        // The ballast is for a broker that has ended, not for one that would.
        let disk = disk::check(&self.place, &orders.desired)
            .and_then(|_| disk::check_room(&self.place, self.launcher.room_to_start()));
        let why = match disk {
            Ok(()) => self.prepare(orders).await.err()?,
            Err(fault) => fault.to_string(),
        };
        Some(format!("it could not be started again, {why}"))
    }

    async fn prepare(&self, orders: &Orders) -> Result<(), String> {
        let said = Mutex::new(String::new());
        let progress = |words: String| *said.lock().expect("no holder of this lock panics") = words;
        let mut preparing = pin!(self.launcher.prepare(&orders.broker, &progress));
        loop {
            tokio::select! {
                biased;
                prepared = &mut preparing => return prepared.map(drop),
                () = sleep(self.patience) => {}
            }
            let said = said.lock().expect("no holder of this lock panics").clone();
            let reason = format!("what its start needs is not there yet: {said}");
            let mut status = self.board.view().status;
            status.detail = format!("waiting before its restart: {reason}");
            (status.waits_for_leave, status.wait_is_passing) = (Some(reason), false);
            self.board.set_status(status);
        }
    }
}
