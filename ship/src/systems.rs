//! What each system is sent: its documented format and limits. Pure; docs/integrations.md names
//! the documents.

pub mod cloudwatch;
pub mod cloudwatchlog;
pub mod datadog;
pub mod librato;
pub mod logentries;
pub mod loggly;
pub mod newrelic;
pub mod otlp;
pub mod papertrail;
pub mod splunk;

use serde::Serialize;

/// Adds a document to a body.
fn add_json(document: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, document).expect("texts and numbers can be written to memory");
}
