//! `castellan team`.

use crate::{Connection, output};
use anyhow::{Context as _, bail};
use clap::Subcommand;
use model::UserId;
use wire::team::{RemovedMember, TeamMember, UpdateMember};

#[derive(Debug, Subcommand)]
pub enum TeamCommand {
    /// List the members of your team
    List,
    /// Send somebody a link to join
    Invite(Invite),
    /// Remove a member, or cancel an invitation
    Remove(Remove),
    /// Change a member's role and tags
    Update(Update),
}

pub async fn run(command: TeamCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        TeamCommand::List => list(connection).await,
        TeamCommand::Invite(options) => invite(options, connection).await,
        TeamCommand::Remove(options) => remove(&options, connection).await,
        TeamCommand::Update(options) => update(options, connection).await,
    }
}

/// `castellan team list`.
async fn list(connection: &Connection) -> anyhow::Result<()> {
    let team = connection.client.team().await?;
    let row = |member: TeamMember| {
        [member.id, member.email, member.roles.join(","), member.tags.join(","), member.name]
    };
    output::print_list(team, ["ID", "EMAIL", "ROLE", "TAGS", "NAME"], row, connection)
}

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

/// `castellan team invite`.
async fn invite(options: Invite, connection: &Connection) -> anyhow::Result<()> {
    let tags = (!options.tags.is_empty()).then(|| options.tags.join(","));
    let invite = wire::team::Invite { email: options.email, role: options.role, tags };
    output::print_message(&connection.client.invite(&invite).await?, connection)
}

#[derive(Debug, clap::Args)]
pub struct Remove {
    /// A member, or somebody who was invited
    pub email: String,
}

/// `castellan team remove`.
async fn remove(options: &Remove, connection: &Connection) -> anyhow::Result<()> {
    let removed = connection.client.remove_member(&options.email).await?;
    if connection.json {
        return output::print_json(&removed);
    }
    for line in lines(&removed) {
        output::print_line(&line)?;
    }
    Ok(())
}

fn lines(removed: &RemovedMember) -> Vec<String> {
    let mut lines = vec![removed.message.clone()];
    if !removed.instances_to_rotate.is_empty() {
        lines.push("They could read the key and the password of these; rotate both:".into());
    }
    for instance in &removed.instances_to_rotate {
        let (id, name) = (instance.id, &instance.name);
        lines.push(format!(
            "  castellan instance rotate-apikey {id} && castellan instance rotate-password {id}   \
             # {name:?}"
        ));
    }
    lines
}

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

/// `castellan team update`.
async fn update(options: Update, connection: &Connection) -> anyhow::Result<()> {
    let tags = (options.no_tags || !options.tags.is_empty()).then(|| options.tags.join(","));
    if options.role.is_none() && tags.is_none() {
        bail!("nothing to change; give --role, --tag or --no-tags");
    }
    let id = id(&options.member, connection).await?;
    let changes = UpdateMember { role: options.role, tags };
    output::print_message(&connection.client.update_member(&id, &changes).await?, connection)
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

#[cfg(test)]
mod tests {
    use super::*;
    use wire::team::InstanceToRotate;

    #[test]
    fn what_a_member_could_read_is_printed_with_the_commands_to_rotate_it() {
        let to_rotate = vec![InstanceToRotate { id: 7, name: "orders\nrm -rf".into() }];
        let message = "ada@x.io was deleted from the team".to_owned();
        let removed = RemovedMember { message: message.clone(), instances_to_rotate: to_rotate };
        let printed = lines(&removed);
        assert_eq!(printed.len(), 3);
        let expected =
            "  castellan instance rotate-apikey 7 && castellan instance rotate-password 7";
        assert!(printed[2].starts_with(expected) && !printed[2].contains('\n'), "{}", printed[2]);
        let nothing = RemovedMember { instances_to_rotate: vec![], ..removed };
        assert_eq!(lines(&nothing), [message]);
    }
}
