//! `castellan team invite`.

use crate::Connection;

#[derive(Debug, clap::Args)]
pub struct Invite {
    /// Whom to invite
    pub email: String,
    /// admin, devops, member, monitor or "billing manager"; member if not given
    #[arg(long)]
    pub role: Option<String>,
    /// Of the instances they see; may be given several times; for member and monitor
    #[arg(long = "tag")]
    pub tags: Vec<String>,
}

pub async fn run(options: Invite, connection: &Connection) -> anyhow::Result<()> {
    let tags = (!options.tags.is_empty()).then(|| options.tags.join(","));
    let invite = wire::team::Invite { email: options.email, role: options.role, tags };
    super::print(&connection.client.invite(&invite).await?, connection)
}
