//! `castellan alarm create`.

use crate::{Connection, OnInstance, complete};
use clap_complete::ArgValueCompleter;
use wire::alarms::AlarmFields;

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

pub async fn run(options: Create, connection: &Connection) -> anyhow::Result<()> {
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
    super::print(&[alarm], connection)
}
