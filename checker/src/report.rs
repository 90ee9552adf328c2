//! What the judge found: for people, and as JSON for programs.

mod findings;
mod text;
mod times;

pub use findings::{Finding, Findings, Wrong};
pub use times::Times;

use crate::Run;
use serde::Serialize;

/// A whole run in figures. Everything that is wrong is in `findings`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    pub run: Run,
    /// False for the history of a checker that was killed, of a client that ended before
    /// its time, and of one that was told nothing.
    pub whole: bool,
    /// From the begin to the end.
    pub seconds: f64,
    pub sent: u64,
    pub acked: u64,
    /// Sends that clients gave up.
    pub failed: u64,
    pub committed: u64,
    pub aborted: u64,
    /// Transactions of which the client can't say how they ended.
    pub unsure: u64,
    /// What the consumer group was given.
    pub seen: u64,
    pub send_to_ack: Option<Times>,
    pub clients: Vec<ClientReport>,
    /// What went wrong without saying anything of a record.
    pub troubles: Vec<String>,
    pub findings: Findings,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClientReport {
    pub client: String,
    pub send_to_ack: Option<Times>,
}

impl Report {
    /// Nothing is wrong, and no send failed.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Sends may have failed, but everything that was said was true.
    pub fn is_true_to_its_word(&self) -> bool {
        self.findings.counts().all(|(wrong, _)| wrong == Wrong::Failed)
    }

    /// How often something is wrong in that way.
    pub fn count(&self, wrong: Wrong) -> u64 {
        self.findings.count(wrong)
    }
}
