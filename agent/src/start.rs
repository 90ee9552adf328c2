//! The start parameters that the cloud put beside the agent.
//!
//! They are read again on each new attempt to reach the control plane, so that
//! one that moved is found. The agent never writes them.

use crate::place::Place;
use std::io;
use std::path::PathBuf;
use wire::agent::AgentStart;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{} can't be read: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is not a start file: {source}", path.display())]
    Bad { path: PathBuf, source: serde_json::Error },
}

pub fn load(place: &Place) -> Result<AgentStart, StartError> {
    let path = place.start();
    match std::fs::read(&path) {
        Ok(text) => {
            serde_json::from_slice(&text).map_err(|source| StartError::Bad { path, source })
        }
        Err(source) => Err(StartError::Io { path, source }),
    }
}
