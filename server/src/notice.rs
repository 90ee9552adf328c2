//! `castellan notice`: notices of maintenance to customers. Works on the store,
//! beside a running control plane, which does the sending.

use crate::at::At;
use crate::store_app;
use anyhow::Result;
use app::alarms::{Scope, notice};
use clap::{Args, Subcommand};
use model::{InstanceId, Maintenance, RegionName};

#[derive(Subcommand)]
pub enum NoticeCommand {
    /// Tell everybody whom notice alarms of these instances name
    Send(SendArgs),
}

#[derive(Args)]
pub struct SendArgs {
    /// What happens, when, and what people have to do
    text: String,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    to: To,
    /// Nobody planned it
    #[arg(long)]
    emergency: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct To {
    /// The id of one instance
    #[arg(long)]
    instance: Option<i64>,
    /// All instances of a region, such as local::this-machine
    #[arg(long)]
    region: Option<String>,
    /// All instances
    #[arg(long)]
    all: bool,
}

impl To {
    fn scope(self) -> Scope {
        match (self.instance, self.region) {
            (Some(id), _) => Scope::Instance(InstanceId(id)),
            (None, Some(region)) => Scope::Region(RegionName(region)),
            (None, None) => Scope::All,
        }
    }
}

pub async fn run(command: NoticeCommand) -> Result<()> {
    let NoticeCommand::Send(args) = command;
    let (app, operator) = store_app::open(&args.at).await?;
    let kind = if args.emergency { Maintenance::Emergency } else { Maintenance::Planned };
    let noticed = notice(operator, &app, &args.to.scope(), kind, &args.text).await;
    app.store().close().await;
    let noticed = noticed?;
    if args.json {
        println!("{}", serde_json::json!({ "instances": noticed }));
        return Ok(());
    }
    match noticed.len() {
        0 => eprintln!("No instance that is meant has a notice alarm; nobody is told."),
        1 => eprintln!("On its way to the recipients of 1 instance."),
        count => eprintln!("On its way to the recipients of {count} instances."),
    }
    Ok(())
}
