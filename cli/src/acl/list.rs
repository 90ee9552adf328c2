//! `castellan acl list`.

use crate::{Connection, OnInstance, complete};
use clap_complete::ArgValueCompleter;

#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    on: OnInstance,
    /// Only of this user
    #[arg(long, add = ArgValueCompleter::new(complete::kafka_users))]
    user: Option<String>,
}

pub async fn run(options: &List, connection: &Connection) -> anyhow::Result<()> {
    let mut acls = connection.client.acls(options.on.id(connection).await?).await?;
    if let Some(user) = &options.user {
        acls.retain(|acl| &acl.name == user);
    }
    super::print(&acls, connection)
}
