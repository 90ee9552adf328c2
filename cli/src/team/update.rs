//! `castellan team update`.

use crate::Connection;
use anyhow::{Context as _, bail};
use model::UserId;
use wire::team::UpdateMember;

#[derive(Debug, clap::Args)]
pub struct Update {
    /// The member's e-mail or id
    pub member: String,
    /// admin, devops, member, monitor or "billing manager"
    #[arg(long)]
    pub role: Option<String>,
    /// Of the instances they see; may be given several times; for member and monitor
    #[arg(long = "tag")]
    pub tags: Vec<String>,
    /// Take all tags away
    #[arg(long, conflicts_with = "tags")]
    pub no_tags: bool,
}

pub async fn run(options: Update, connection: &Connection) -> anyhow::Result<()> {
    let tags = (options.no_tags || !options.tags.is_empty()).then(|| options.tags.join(","));
    if options.role.is_none() && tags.is_none() {
        bail!("nothing to change; give --role, --tag or --no-tags");
    }
    let id = id(&options.member, connection).await?;
    let changes = UpdateMember { role: options.role, tags };
    super::print(&connection.client.update_member(&id, &changes).await?, connection)
}

/// People know e-mails, the API takes ids.
async fn id(member: &str, connection: &Connection) -> anyhow::Result<String> {
    if let Ok(id) = member.parse::<UserId>() {
        return Ok(id.to_string());
    }
    let team = connection.client.team().await?;
    let found = team.into_iter().find(|one| one.email.eq_ignore_ascii_case(member));
    Ok(found.with_context(|| format!("{member} is not in the team"))?.id)
}
