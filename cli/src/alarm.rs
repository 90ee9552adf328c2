//! `castellan alarm`.

mod history;

use crate::output::or_dash;
use crate::{Connection, OnInstance, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use comfy_table::Table;
use wire::alarms::{Alarm, AlarmFields};

#[derive(Debug, Subcommand)]
pub enum AlarmCommand {
    /// List what is watched for
    List {
        #[command(flatten)]
        on: OnInstance,
    },
    /// Watch for something
    Create(Create),
    /// Change an alarm; what is not named stays
    Update(Update),
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
        AlarmCommand::Create(options) => create(options, connection).await,
        AlarmCommand::Update(options) => update(options, connection).await,
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
        let recipients: Vec<String> = alarm.recipients.iter().map(ToString::to_string).collect();
        [
            alarm.id.to_string(),
            alarm.kind.clone(),
            if alarm.enabled { "yes".into() } else { "no".into() },
            or_dash(alarm.value_threshold),
            or_dash(alarm.time_threshold),
            or_dash(alarm.group.as_ref()),
            or_dash(alarm.reminder_interval),
            if recipients.is_empty() { "all".into() } else { recipients.join(", ") },
        ]
    };
    let headings =
        ["ID", "TYPE", "ENABLED", "VALUE", "FOR (S)", "GROUP", "REMIND (S)", "RECIPIENTS"];
    output::table(headings, alarms.iter().map(row))
}

#[derive(Debug, clap::Args)]
pub struct Create {
    #[command(flatten)]
    on: OnInstance,
    /// cpu, memory, disk, server_unreachable, notice, consumer_lag, …
    #[arg(value_name = "TYPE")]
    kind: String,
    #[command(flatten)]
    what: What,
    /// Made, but switched off
    #[arg(long)]
    disabled: bool,
}

/// When it fires, and whom it tells.
#[derive(Debug, clap::Args)]
pub struct What {
    /// The level: percent used (cpu, memory), gigabytes free (disk), seconds behind
    /// (consumer_lag), days (certificate_expiry) or hours (disk_forecast) left
    #[arg(long)]
    pub value: Option<i64>,
    /// Seconds for which the level must hold
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<i64>,
    /// The one consumer group it is about
    #[arg(long, add = ArgValueCompleter::new(complete::groups))]
    pub group: Option<String>,
    /// Ids of recipients, with commas; everybody if not given
    #[arg(long, value_delimiter = ',')]
    pub recipients: Option<Vec<i64>>,
    /// Seconds between reminders while it goes on; 0: none
    #[arg(long, value_name = "SECONDS")]
    pub remind: Option<i64>,
}

/// `castellan alarm create`.
async fn create(options: Create, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let What { value, time, group, recipients, remind } = options.what;
    let fields = AlarmFields {
        kind: Some(options.kind),
        enabled: options.disabled.then_some(false),
        value_threshold: value,
        time_threshold: time,
        group,
        recipients,
        reminder_interval: remind,
    };
    let alarm = connection.client.create_alarm(id, &fields).await?;
    print(&[alarm], connection)
}

#[derive(Debug, clap::Args)]
pub struct Update {
    #[command(flatten)]
    on: OnInstance,
    /// The alarm's id
    alarm: i64,
    #[command(flatten)]
    what: What,
    /// Tell everybody, instead of those that are listed
    #[arg(long, conflicts_with = "recipients")]
    everybody: bool,
    /// Switch it on or off
    #[arg(long)]
    enabled: Option<bool>,
}

/// `castellan alarm update`.
///
/// The API wants thresholds again, so those that are not named are read first.
async fn update(options: Update, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let before = connection.client.alarm(id, options.alarm).await?;
    let What { value, time, group, recipients, remind } = options.what;
    let fields = AlarmFields {
        kind: None,
        enabled: options.enabled,
        value_threshold: value.or(before.value_threshold),
        time_threshold: time.or(before.time_threshold),
        group: group.or(before.group),
        recipients: if options.everybody { Some(Vec::new()) } else { recipients },
        reminder_interval: remind,
    };
    let alarm = connection.client.update_alarm(id, options.alarm, &fields).await?;
    print(&[alarm], connection)
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
