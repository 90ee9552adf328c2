//! `castellan alarm history`.

use crate::output::or_dash;
use crate::{Connection, OnInstance, output};
use comfy_table::Table;
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
    output::print_table(&table(&incidents))
}

fn table(incidents: &[Incident]) -> Table {
    let row = |incident: &Incident| {
        let about = or_dash(incident.server.as_ref().or(incident.group.as_ref()));
        let (triggered, resolved) = (or_dash(incident.triggered_at), or_dash(incident.resolved_at));
        [about, triggered, resolved, incident.message.clone()]
    };
    let headings = ["ABOUT", "TRIGGERED", "RESOLVED", "WHAT"];
    output::table(headings, incidents.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incident_names_whom_it_is_about_and_when() {
        let incident = Incident {
            id: 1,
            server: Some("orders-02".into()),
            group: None,
            since: "2026-11-15T12:00:00Z".parse().unwrap(),
            triggered_at: Some("2026-11-15T12:01:00Z".parse().unwrap()),
            resolved_at: None,
            value: Some(97.0),
            message: "cpu is at 97 %".into(),
        };
        let of_group = Incident {
            server: None,
            group: Some("billing".into()),
            resolved_at: Some("2026-11-15T13:00:00Z".parse().unwrap()),
            ..incident.clone()
        };
        let of_cluster = Incident { server: None, ..incident.clone() };
        let printed = table(&[incident, of_group, of_cluster]).trim_fmt();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = [
            "ABOUT TRIGGERED RESOLVED WHAT",
            "orders-02 2026-11-15T12:01:00Z - cpu is at 97 %",
            "billing 2026-11-15T12:01:00Z 2026-11-15T13:00:00Z cpu is at 97 %",
            "- 2026-11-15T12:01:00Z - cpu is at 97 %",
        ];
        assert_eq!(printed.lines().map(words).collect::<Vec<_>>(), expected);
    }
}
