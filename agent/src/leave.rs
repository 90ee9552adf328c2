//! Leave to stop the broker, asked for at the moment of stopping.
//!
//! Only a yes counts. While the control plane says no, or says nothing, the
//! broker goes on running; the supervisor asks again.

use crate::board::Board;
use crate::connection::Connection;
use crate::identity::Identity;
use crate::place::Place;
use crate::start;
use async_trait::async_trait;
use wire::agent::Claim;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Go,
    /// Why not, in words.
    No(String),
    /// The same, where only the control plane's next look is waited for.
    NotYet(String),
}

/// Gives a broker leave to stop.
#[async_trait]
pub trait Leave: Send + Sync {
    async fn ask(&self) -> Answer;
}

/// The control plane. It is looked for anew with every question, because one
/// that does not answer may have moved.
pub struct ControlPlane {
    pub place: Place,
    pub board: Board,
}

#[async_trait]
impl Leave for ControlPlane {
    async fn ask(&self) -> Answer {
        self.claim().await.unwrap_or_else(Answer::No)
    }
}

impl ControlPlane {
    async fn claim(&self) -> Result<Answer, String> {
        let start = start::load(&self.place).map_err(|error| error.to_string())?;
        let identity = Identity::load(&self.place).ok_or("this agent is not enrolled")?;
        let view = self.board.view();
        let silent = view.silent_since().is_some();
        let claim = Claim { revision: view.revision, store_epoch: view.store_epoch, silent };
        let connection = Connection::open(&start, Some(&identity));
        let answer = match connection {
            Ok(connection) => connection.claim(&claim).await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(claimed) if claimed.go => Ok(Answer::Go),
            Ok(claimed) if claimed.passing => Ok(Answer::NotYet(claimed.reason)),
            Ok(claimed) => Ok(Answer::No(claimed.reason)),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
#[path = "leave_tests.rs"]
mod tests;
