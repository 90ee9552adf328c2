//! `castellan server`: verbs on single servers. They work on the store, beside a running
//! control plane, which does the rest.

use crate::at::At;
use crate::store_app;
use anyhow::Result;
use app::agents;
use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub enum ServerCommand {
    /// Revoke the identity of a server's agent and have it enrol anew; its broker runs on
    ReEnrol(ReEnrolArgs),
}

#[derive(Args)]
pub struct ReEnrolArgs {
    /// Id or name of the instance
    instance: String,
    /// Name or number of the server
    server: String,
    #[command(flatten)]
    at: At,
}

pub async fn run(command: ServerCommand) -> Result<()> {
    let ServerCommand::ReEnrol(args) = command;
    let (app, operator) = store_app::open(&args.at).await?;
    let done = async {
        let instance = store_app::instance(&app, &args.instance).await?;
        Ok::<_, anyhow::Error>(agents::re_enrol(operator, &app, instance, &args.server).await?)
    };
    let done = done.await;
    app.store().close().await;
    let server = done?;
    eprintln!(
        "The certificate of the agent of {} is revoked. Its agent gets a new token from the control \
         plane, once that runs and is not paused, and comes back; the broker runs on, with new keys. \
         A copy of its broker's old certificate is good on the cluster's internal listeners until it \
         expires.",
        server.name
    );
    Ok(())
}
