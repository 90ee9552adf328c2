//! Reading a server's documents: the one place where their text becomes data.

use super::ServerRecord;
use crate::{Error, Result};
use model::agent::{Desired, DesiredBroker, Report};
use serde::de::DeserializeOwned;

impl ServerRecord {
    /// The broker's configuration as last rendered.
    pub fn parse_broker(&self) -> Result<Option<DesiredBroker>> {
        parse("a broker's configuration", self.broker.as_deref())
    }

    /// The desired state that the agent was last given.
    pub fn parse_desired(&self) -> Result<Option<Desired>> {
        parse("a desired state", self.desired.as_deref())
    }

    /// The same, for use cases that can do without it: one that can't be read counts as none.
    pub fn last_desired(&self) -> Option<Desired> {
        self.parse_desired().ok().flatten()
    }

    /// The launch of that desired state, or the first.
    pub fn desired_launch(&self) -> i64 {
        self.last_desired().map_or(0, |desired| desired.launch)
    }

    /// The last report, be it from an agent whose identity was revoked since. One that can't
    /// be read is as good as none: an agent of another release may have sent it, and the next
    /// one may be better.
    pub fn parse_report(&self) -> Option<Report> {
        serde_json::from_str(self.report.as_deref()?).ok()
    }

    /// The last report, if the present agent sent it.
    pub fn current_report(&self) -> Option<Report> {
        self.parse_report().filter(|report| report.incarnation == self.server.incarnation)
    }
}

fn parse<T: DeserializeOwned>(what: &'static str, text: Option<&str>) -> Result<Option<T>> {
    // The text may hold more than a log should.
    let corrupt = |error: serde_json::Error| Error::Corrupt { what, value: error.to_string() };
    text.map(|text| serde_json::from_str(text).map_err(corrupt)).transpose()
}
