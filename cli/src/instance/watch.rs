//! `castellan instance watch`.

use super::follow::{self, News};
use crate::{Connection, complete, output};
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use wire::actions::Action;

#[derive(Debug, clap::Args)]
pub struct Watch {
    /// The instance's id
    #[arg(add = ArgValueCompleter::new(complete::instance_ids))]
    pub id: i64,
}

/// Follows the action that goes on, the latest where there are several. An error,
/// and with it the exit code, says that it was cancelled.
pub async fn run(options: &Watch, connection: &Connection) -> anyhow::Result<()> {
    let id = options.id;
    let actions = connection.client.actions(id).await?;
    let Some(action) = actions.into_iter().find(|action| action.ended_at.is_none()) else {
        let sentence = format!("Nothing goes on at instance {id}");
        return print(connection, &json!({"action": null, "status": sentence}), &sentence);
    };
    let begins = json!({"action": action.id, "kind": action.kind, "servers": action.servers});
    print(connection, &begins, &begin(&action))?;
    let ended = follow::until_ended(&connection.client, id, action.id, |news| match news {
        News::Step(step) => {
            let line = json!({"action": action.id, "at": step.at, "step": step.text});
            print(connection, &line, &format!("{:.0}  {}", step.at, step.text))
        }
        News::Status(status) => {
            let line = json!({"action": action.id, "status": status});
            print(connection, &line, &format!("{:22}{status}", ""))
        }
    });
    let ended = ended.await?;
    let (state, at) = (&ended.action.state, ended.action.ended_at);
    let line = json!({"action": action.id, "at": at, "state": state});
    print(connection, &line, &format!("{:.0}  {state}", at.unwrap_or_default()))?;
    follow::succeeded(&ended)
}

fn begin(action: &Action) -> String {
    let Action { id, kind, servers, asked_by, asked_at, .. } = action;
    format!(
        "Action {id}: {kind} of {}, asked for by {asked_by} at {asked_at:.0}",
        servers.join(", ")
    )
}

/// One line, for people or for programs.
fn print(connection: &Connection, line: &Value, text: &str) -> anyhow::Result<()> {
    if connection.json { output::print_line(&line.to_string()) } else { output::print_line(text) }
}
