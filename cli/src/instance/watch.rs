//! `castellan instance watch`.

use super::follow::{self, News, Shown};
use super::wait::{AWAY, LOOK_AGAIN, PATIENCE};
use crate::{Connection, OnInstance, output};
use anyhow::{anyhow, bail};
use client::Client;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wire::actions::{Action, ActionDetails};

/// Follows everything that goes on, and what is asked for meanwhile, until all of
/// it has ended. An error, and with it the exit code, says what was not done.
pub async fn run(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let id = on.id(connection).await?;
    let client = &connection.client;
    let nothing = of_none(format!("Nothing goes on at instance {id}"));
    if client.actions(id).await?.iter().all(|action| action.ended_at.is_some()) {
        return print(connection, &nothing);
    }
    let mut watching = Watching::default();
    let mut away = 0;
    loop {
        match look(client, id, &watching).await {
            Ok(seen) => {
                away = 0;
                if seen.is_empty() {
                    return print(connection, &nothing);
                }
                let lines = seen.iter().flat_map(|seen| watching.lines(seen));
                for line in lines.collect::<Vec<_>>() {
                    print(connection, &line)?;
                }
                if watching.shown.is_empty() {
                    return watching.succeeded();
                }
            }
            Err(error) if error.is_away() && away < PATIENCE => {
                if away == 0 {
                    print(connection, &of_none(AWAY.into()))?;
                }
                away += 1;
            }
            // It was there a moment ago.
            Err(error) if error.is_not_found() => return Err(watching.deleted()),
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// What goes on, and what was followed so far, oldest first.
async fn look(client: &Client, id: i64, watching: &Watching) -> client::Result<Vec<ActionDetails>> {
    let mut seen = Vec::new();
    for action in client.actions(id).await?.into_iter().rev() {
        if action.ended_at.is_none() || watching.shown.contains_key(&action.id) {
            seen.push(client.action(id, action.id).await?);
        }
    }
    Ok(seen)
}

/// What is followed.
#[derive(Default)]
struct Watching {
    /// Those that have not ended.
    shown: BTreeMap<i64, Shown>,
    /// Why those that have ended otherwise were not done.
    not_done: Vec<String>,
}

/// For programs and for people.
struct Line {
    json: Value,
    text: String,
}

impl Watching {
    fn lines(&mut self, seen: &ActionDetails) -> Vec<Line> {
        let action = &seen.action;
        let mut lines = Vec::new();
        if !self.shown.contains_key(&action.id) {
            lines.push(begin(action));
        }
        let news = self.shown.entry(action.id).or_default().news(seen);
        lines.extend(news.iter().map(|news| line(action.id, news)));
        if let Some(at) = action.ended_at {
            let Action { id, state, status, .. } = action;
            lines.push(Line {
                json: json!({"action": id, "at": at, "state": state, "status": status}),
                text: format!("{at:.0}  action {id}: {status}"),
            });
            self.shown.remove(&action.id);
            self.not_done.extend(follow::succeeded(seen).err().map(|error| error.to_string()));
        }
        lines
    }

    /// Whatever went on was not done.
    fn deleted(mut self) -> anyhow::Error {
        let left: Vec<String> = self.shown.keys().map(|id| format!("action {id}")).collect();
        let left = if left.is_empty() { "what went on".into() } else { left.join(" and ") };
        self.not_done.push(format!("the instance was deleted before {left} had ended"));
        anyhow!(self.not_done.join("; "))
    }

    fn succeeded(&self) -> anyhow::Result<()> {
        if self.not_done.is_empty() {
            return Ok(());
        }
        bail!("{}", self.not_done.join("; "))
    }
}

fn begin(action: &Action) -> Line {
    let Action { id, kind, servers, asked_by, asked_at, .. } = action;
    let of = servers.join(", ");
    Line {
        json: json!({"action": id, "kind": kind, "servers": servers}),
        text: format!("Action {id}: {kind} of {of}, asked for by {asked_by} at {asked_at:.0}"),
    }
}

fn line(id: i64, news: &News) -> Line {
    match news {
        News::Step(step) => Line {
            json: json!({"action": id, "at": step.at, "step": step.text}),
            text: format!("{:.0}  action {id}: {}", step.at, step.text),
        },
        News::Status(status) => Line {
            json: json!({"action": id, "status": status}),
            text: format!("{:22}action {id}: {status}", ""),
        },
    }
}

fn of_none(sentence: String) -> Line {
    Line { json: json!({"action": null, "status": sentence}), text: sentence }
}

fn print(connection: &Connection, line: &Line) -> anyhow::Result<()> {
    if connection.json {
        return output::print_line(&line.json.to_string());
    }
    output::print_line(&line.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::actions::Step;

    fn seen(id: i64, state: &str, steps: &[&str]) -> ActionDetails {
        let at = model::Timestamp::UNIX_EPOCH;
        let action = Action {
            id,
            kind: "restart".into(),
            servers: vec![format!("a-0{id}")],
            asked_by: "ada@example.test".into(),
            source: "cli".into(),
            asked_at: at,
            ended_at: (state != "running").then_some(at),
            state: state.into(),
            status: format!("{state} for now"),
        };
        let steps = steps.iter().map(|text| Step { at, text: (*text).into() }).collect();
        ActionDetails { action, progress: None, steps }
    }

    #[test]
    fn every_action_is_followed_to_its_own_end() {
        let mut watching = Watching::default();
        let mut check = |seen: &[ActionDetails], expected: &[&str]| {
            let lines = seen.iter().flat_map(|seen| watching.lines(seen));
            let texts: Vec<String> = lines.map(|line| line.text.trim().to_owned()).collect();
            assert_eq!(texts, expected);
        };
        check(
            &[seen(1, "running", &["a"]), seen(3, "running", &[])],
            &[
                "Action 1: restart of a-01, asked for by ada@example.test at 1970-01-01T00:00:00Z",
                "1970-01-01T00:00:00Z  action 1: a",
                "action 1: running for now",
                "Action 3: restart of a-03, asked for by ada@example.test at 1970-01-01T00:00:00Z",
                "action 3: running for now",
            ],
        );
        check(
            &[seen(1, "done", &["a"]), seen(3, "running", &["b"])],
            &[
                "1970-01-01T00:00:00Z  action 1: done for now",
                "1970-01-01T00:00:00Z  action 3: b",
                "action 3: running for now",
            ],
        );
        // By what, too, and not its state alone.
        let ended = "1970-01-01T00:00:00Z  action 3: superseded for now";
        check(&[seen(3, "superseded", &["b"])], &[ended]);
        assert!(watching.shown.is_empty());
        let error = watching.succeeded().unwrap_err().to_string();
        assert_eq!(error, "action 3 was not done: superseded for now");
    }

    #[test]
    fn what_went_on_at_an_instance_that_was_deleted_was_not_done() {
        let mut watching = Watching::default();
        watching.lines(&seen(1, "running", &[]));
        watching.lines(&seen(2, "cancelled", &[]));
        watching.lines(&seen(3, "running", &[]));
        let expected = "action 2 was not done: cancelled for now; \
                        the instance was deleted before action 1 and action 3 had ended";
        assert_eq!(watching.deleted().to_string(), expected);
    }
}
