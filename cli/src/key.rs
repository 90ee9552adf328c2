//! `castellan key`: the keys that calls of the API are made with.

use crate::{Connection, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use wire::apikeys::{ApiKeyEntry, CreateApiKey};

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// List your keys, without the keys themselves; for admins those of the whole account
    List,
    /// Make a key for yourself; it is shown only now
    Create(Create),
    /// Stop a key of your own; for admins any of the account
    Delete(Delete),
}

#[derive(Debug, clap::Args)]
pub struct Create {
    /// What it is for
    #[arg(long)]
    comment: Option<String>,
    /// admin, devops, member, monitor or "billing manager"; as much as you may if not given
    #[arg(long)]
    role: Option<String>,
    /// Of the instances it sees; may be given several times; for member and monitor
    #[arg(long = "tag", alias = "tags", value_delimiter = ',')]
    tags: Vec<String>,
    /// When it stops by itself, such as 2030-01-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Delete {
    /// Its id, as `castellan key list` shows it
    #[arg(add = ArgValueCompleter::new(complete::apikeys))]
    key: String,
}

pub async fn run(command: KeyCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        KeyCommand::List => list(connection).await,
        KeyCommand::Create(options) => create(options, connection).await,
        KeyCommand::Delete(Delete { key }) => Ok(connection.client.delete_apikey(&key).await?),
    }
}

async fn list(connection: &Connection) -> anyhow::Result<()> {
    let keys = connection.client.apikeys().await?;
    let row = |key: ApiKeyEntry| {
        let used = match (key.last_used_at, key.last_used_from) {
            (Some(at), Some(from)) => format!("{at} {from}"),
            (at, _) => output::or_dash(at),
        };
        let expires = output::or_dash(key.expires_at);
        [key.id, key.email, key.role, key.tags.join(","), used, expires, key.comment]
    };
    let headings = ["ID", "EMAIL", "ROLE", "TAGS", "LAST USED", "EXPIRES", "COMMENT"];
    output::print_list(keys, headings, row, connection)
}

async fn create(options: Create, connection: &Connection) -> anyhow::Result<()> {
    let Create { comment, role, tags, expires_at } = options;
    let tags = (!tags.is_empty()).then_some(tags);
    let new = CreateApiKey { comment, role, tags, expires_at };
    let made = connection.client.create_apikey(&new).await?;
    if connection.json {
        return output::print_json(&made);
    }
    output::print_line(&format!("Key {}", made.id))?;
    output::print_line(&format!("Customer key (shown only now): {}", made.apikey.expose()))
}
