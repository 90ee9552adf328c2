//! `castellan instance actions`.

use crate::{Connection, OnInstance, output};
use wire::actions::Action;

#[derive(Debug, clap::Args)]
pub struct Actions {
    #[command(flatten)]
    pub on: OnInstance,
}

pub async fn run(options: &Actions, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let actions = connection.client.actions(id).await?;
    if connection.json {
        return output::print_json(&actions);
    }
    let row = |action: Action| {
        let servers = action.servers.join(",");
        let asked_at = format!("{:.0}", action.asked_at);
        let id = action.id.to_string();
        [id, action.kind, servers, asked_at, action.asked_by, action.state, action.status]
    };
    let headings = ["ID", "KIND", "SERVERS", "ASKED AT", "ASKED BY", "STATE", "STATUS"];
    output::print_table(&output::table(headings, actions.into_iter().map(row)))
}
