//! `castellan acl delete`.

use crate::{Connection, OnInstance, complete, output};
use clap_complete::ArgValueCompleter;

#[derive(Debug, clap::Args)]
pub struct Delete {
    #[command(flatten)]
    on: OnInstance,
    /// Its id, of `castellan acl list`
    #[arg(value_name = "ACL", add = ArgValueCompleter::new(complete::acls))]
    acl: i64,
}

pub async fn run(options: &Delete, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    output::print_message(&connection.client.delete_acl(id, options.acl).await?, connection)
}
