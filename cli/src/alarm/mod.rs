//! `castellan alarm`.

mod create;
mod history;
mod update;

use crate::{Connection, OnInstance, output};
use clap::Subcommand;
use comfy_table::Table;
use wire::alarms::Alarm;

#[derive(Debug, Subcommand)]
pub enum AlarmCommand {
    /// List what is watched for
    List {
        #[command(flatten)]
        on: OnInstance,
    },
    /// Watch for something
    Create(create::Create),
    /// Change an alarm; what is not named stays
    Update(update::Update),
    /// What people were told of an alarm, the latest first
    History(history::History),
    /// Delete an alarm
    Delete {
        #[command(flatten)]
        on: OnInstance,
        /// The alarm's id
        alarm: i64,
    },
}

pub async fn run(command: AlarmCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        AlarmCommand::List { on } => {
            let id = on.id(connection).await?;
            print(&connection.client.alarms(id).await?, connection)
        }
        AlarmCommand::Create(options) => create::run(options, connection).await,
        AlarmCommand::Update(options) => update::run(options, connection).await,
        AlarmCommand::History(options) => history::run(&options, connection).await,
        AlarmCommand::Delete { on, alarm } => {
            let id = on.id(connection).await?;
            connection.client.delete_alarm(id, alarm).await.map_err(Into::into)
        }
    }
}

fn print(alarms: &[Alarm], connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(&alarms);
    }
    output::print_table(&table(alarms))
}

fn table(alarms: &[Alarm]) -> Table {
    let row = |alarm: &Alarm| {
        let number = |number: Option<i64>| number.map_or_else(|| "-".into(), |it| it.to_string());
        let recipients: Vec<String> = alarm.recipients.iter().map(ToString::to_string).collect();
        [
            alarm.id.to_string(),
            alarm.kind.clone(),
            if alarm.enabled { "yes".into() } else { "no".into() },
            number(alarm.value_threshold),
            number(alarm.time_threshold),
            alarm.group.clone().unwrap_or_else(|| "-".into()),
            number(alarm.reminder_interval),
            if recipients.is_empty() { "all".into() } else { recipients.join(", ") },
        ]
    };
    let headings =
        ["ID", "TYPE", "ENABLED", "VALUE", "FOR (S)", "GROUP", "REMIND (S)", "RECIPIENTS"];
    output::table(headings, alarms.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_is_a_line_and_what_it_lacks_a_dash() {
        let alarm = |id: i64, kind: &str| Alarm {
            id,
            kind: kind.into(),
            enabled: true,
            value_threshold: None,
            time_threshold: None,
            group: None,
            reminder_interval: None,
            recipients: vec![],
        };
        let lag = Alarm {
            enabled: false,
            value_threshold: Some(60),
            time_threshold: Some(30),
            group: Some("billing".into()),
            reminder_interval: Some(600),
            recipients: vec![1, 3],
            ..alarm(6, "consumer_lag")
        };
        let printed = table(&[alarm(4, "notice"), lag]).trim_fmt();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = [
            "ID TYPE ENABLED VALUE FOR (S) GROUP REMIND (S) RECIPIENTS",
            "4 notice yes - - - - all",
            "6 consumer_lag no 60 30 billing 600 1, 3",
        ];
        assert_eq!(printed.lines().map(words).collect::<Vec<_>>(), expected);
    }
}
