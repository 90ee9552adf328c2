//! `castellan alarm history`.

use crate::{Connection, OnInstance, output};
use wire::alarms::Incident;

#[derive(Debug, clap::Args)]
pub struct History {
    #[command(flatten)]
    on: OnInstance,
    /// The alarm's id
    alarm: i64,
}

pub async fn run(options: &History, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let incidents = connection.client.alarm_history(id, options.alarm).await?;
    if connection.json {
        return output::print_json(&incidents);
    }
    let row = |incident: &Incident| {
        let time =
            |at: Option<model::Timestamp>| at.map_or_else(|| "-".into(), |at| at.to_string());
        let about = incident.server.as_ref().or(incident.group.as_ref());
        let server = about.cloned().unwrap_or_else(|| "-".into());
        let (triggered, resolved) = (time(incident.triggered_at), time(incident.resolved_at));
        [server, triggered, resolved, incident.message.clone()]
    };
    let headings = ["ABOUT", "TRIGGERED", "RESOLVED", "WHAT"];
    output::print_table(&output::table(headings, incidents.iter().map(row)))
}
