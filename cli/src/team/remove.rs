//! `castellan team remove`.

use crate::Connection;

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// A member, or somebody who was invited
    pub email: String,
}

pub async fn run(options: &Remove, connection: &Connection) -> anyhow::Result<()> {
    super::print(&connection.client.remove_member(&options.email).await?, connection)
}
