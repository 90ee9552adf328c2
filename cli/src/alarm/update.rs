//! `castellan alarm update`.

use super::create::What;
use crate::{Connection, OnInstance};
use wire::alarms::AlarmFields;

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

/// The API wants thresholds again, so those that are not named are read first.
pub async fn run(options: Update, connection: &Connection) -> anyhow::Result<()> {
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
    super::print(&[alarm], connection)
}
