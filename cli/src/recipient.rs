//! `castellan recipient`.

mod fields;
mod test;

use crate::{Connection, OnInstance, output};
use clap::Subcommand;
use comfy_table::Table;
use fields::Fields;
use wire::alarms::Recipient;

#[derive(Debug, Subcommand)]
pub enum RecipientCommand {
    /// List whom alarms are told to
    List {
        #[command(flatten)]
        on: OnInstance,
    },
    /// Have alarms told to somebody
    Create {
        #[command(flatten)]
        on: OnInstance,
        #[command(flatten)]
        fields: Fields,
    },
    /// Change whom or how; name and options stay if not given
    Update {
        #[command(flatten)]
        on: OnInstance,
        /// The recipient's id
        recipient: i64,
        #[command(flatten)]
        fields: Fields,
    },
    /// Send a test and wait until it is delivered or has failed
    Test(test::Test),
    /// Tell somebody no more
    Delete {
        #[command(flatten)]
        on: OnInstance,
        /// The recipient's id
        recipient: i64,
    },
}

pub async fn run(command: RecipientCommand, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    match command {
        RecipientCommand::List { on } => {
            let id = on.id(connection).await?;
            print(&client.recipients(id).await?, connection)
        }
        RecipientCommand::Create { on, fields } => {
            let id = on.id(connection).await?;
            let made = client.create_recipient(id, &fields.body()?).await?;
            print(&[made], connection)
        }
        RecipientCommand::Update { on, recipient, fields } => {
            let id = on.id(connection).await?;
            let changed = client.update_recipient(id, recipient, &fields.body()?).await?;
            print(&[changed], connection)
        }
        RecipientCommand::Test(options) => test::run(&options, connection).await,
        RecipientCommand::Delete { on, recipient } => {
            let id = on.id(connection).await?;
            client.delete_recipient(id, recipient).await.map_err(Into::into)
        }
    }
}

/// Keys are not shown; `--json` prints what the API said, which has them.
fn print(recipients: &[Recipient], connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(&recipients);
    }
    output::print_table(&table(recipients))
}

fn table(recipients: &[Recipient]) -> Table {
    let row = |recipient: &Recipient| {
        let value = match recipient.kind.as_str() {
            "email" => recipient.value.expose().to_owned(),
            _ => "***".to_owned(),
        };
        let last = recipient.last_status.as_ref();
        let last = last.map_or_else(|| "-".into(), |it| format!("{} at {}", it.message, it.at));
        let name = recipient.name.clone();
        [recipient.id.to_string(), recipient.kind.clone(), value, name, last]
    };
    let headings = ["ID", "TYPE", "VALUE", "NAME", "LAST TOLD"];
    output::table(headings, recipients.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Secret;
    use wire::alarms::LastStatus;

    #[test]
    fn an_address_is_shown_and_a_key_is_not() {
        let mail = Recipient {
            id: 1,
            kind: "email".into(),
            value: Secret::new("ada@example.com"),
            name: "Ada".into(),
            options: None,
            last_status: None,
        };
        let at = "2026-11-15T12:00:00Z".parse().unwrap();
        let told = LastStatus { at, ok: false, message: "example.com answered 500".into() };
        let hook = Recipient {
            id: 2,
            kind: "webhook".into(),
            value: Secret::new("https://example.com/s3cret"),
            name: "hook".into(),
            last_status: Some(told),
            ..mail.clone()
        };
        let printed = table(&[mail, hook]).trim_fmt();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = [
            "ID TYPE VALUE NAME LAST TOLD",
            "1 email ada@example.com Ada -",
            "2 webhook *** hook example.com answered 500 at 2026-11-15T12:00:00Z",
        ];
        assert_eq!(printed.lines().map(words).collect::<Vec<_>>(), expected);
    }
}
