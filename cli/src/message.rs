//! `castellan message`.

use crate::{Connection, OnInstance, complete, output};
use anyhow::Context as _;
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use client::ReadMessages;
use wire::messages::{BASE64, Header, Message, NewMessage, WriteMessages, Written};

#[derive(Debug, Subcommand)]
pub enum MessageCommand {
    /// Read a few messages of a topic, the newest if nothing else is said
    Read(Read),
    /// Write a message to a topic
    Write(Write),
}

// No doc comment, because that would be the help text of the verb.
#[derive(Debug, clap::Args)]
pub struct OfTopic {
    #[command(flatten)]
    on: OnInstance,
    /// Name of the topic
    #[arg(value_name = "TOPIC", add = ArgValueCompleter::new(complete::topics))]
    topic: String,
}

pub async fn run(command: MessageCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        MessageCommand::Read(options) => read(options, connection).await,
        MessageCommand::Write(options) => write(options, connection).await,
    }
}

#[derive(Debug, clap::Args)]
pub struct Read {
    #[command(flatten)]
    of: OfTopic,
    /// All of them if not given
    #[arg(long)]
    partition: Option<i32>,
    /// Begin there
    #[arg(long, requires = "partition", conflicts_with = "from")]
    offset: Option<i64>,
    /// Begin with a time, such as 2026-11-15T12:00:00Z, or with earliest
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// How many; 10 if not given
    #[arg(long)]
    limit: Option<u32>,
}

/// `castellan message read`.
async fn read(options: Read, connection: &Connection) -> anyhow::Result<()> {
    let Read { of, partition, offset, from, limit } = options;
    let what = ReadMessages { partition, offset, from, limit };
    let id = of.on.id(connection).await?;
    let messages = connection.client.messages(id, &of.topic, &what).await?;
    let headings = ["PARTITION", "OFFSET", "TIME", "KEY", "VALUE"];
    output::print_list(messages, headings, row, connection)
}

fn row(message: Message) -> [String; 5] {
    let time = message.timestamp.map_or_else(|| "-".to_owned(), |at| format!("{at:.3}"));
    let value = match message.omitted_bytes {
        Some(bytes) => format!("({bytes} bytes, too large to be shown)"),
        None => shown(message.value, &message.value_encoding),
    };
    let key = shown(message.key, &message.key_encoding);
    [message.partition.to_string(), message.offset.to_string(), time, key, value]
}

/// A terminal is not to be told what to do by whoever wrote a message.
fn shown(text: Option<String>, encoding: &str) -> String {
    let Some(text) = text else { return "-".to_owned() };
    let plain: String = text
        .chars()
        .map(|it| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it })
        .collect();
    if encoding == BASE64 { format!("base64:{plain}") } else { plain }
}

#[derive(Debug, clap::Args)]
pub struct Write {
    #[command(flatten)]
    of: OfTopic,
    /// Its contents, which may be empty; without it the key alone deletes what it names in a
    /// compacted topic
    #[arg(long, required_unless_present = "key", allow_hyphen_values = true)]
    value: Option<String>,
    /// Messages of a key are in one partition, in their order
    #[arg(long, allow_hyphen_values = true)]
    key: Option<String>,
    /// May be given several times
    #[arg(long = "header", value_name = "NAME=VALUE")]
    headers: Vec<String>,
    /// That of the key if not given, or any
    #[arg(long)]
    partition: Option<i64>,
}

/// `castellan message write`.
async fn write(options: Write, connection: &Connection) -> anyhow::Result<()> {
    let headers: anyhow::Result<Vec<Header>> =
        options.headers.iter().map(|it| header(it)).collect();
    let message = NewMessage {
        key: options.key,
        value: options.value,
        headers: headers?,
        partition: options.partition,
        ..NewMessage::default()
    };
    let asked = WriteMessages { message, ..WriteMessages::default() };
    let OfTopic { on, topic } = options.of;
    let id = on.id(connection).await?;
    let written = connection.client.write_messages(id, &topic, &asked).await?;
    let row = |it: Written| [it.partition.to_string(), it.offset.to_string()];
    output::print_list(written, ["PARTITION", "OFFSET"], row, connection)
}

fn header(text: &str) -> anyhow::Result<Header> {
    let (name, value) = text.split_once('=').context("a header is written NAME=VALUE")?;
    Ok(Header { name: name.into(), value: Some(value.to_owned()), encoding: String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_commands_no_terminal() {
        let check = |text: Option<&str>, encoding: &str, expected: &str| {
            assert_eq!(shown(text.map(str::to_owned), encoding), expected);
        };
        check(Some("shipped"), "text", "shipped");
        check(Some("\u{1b}[2Jgone\n"), "text", "\u{fffd}[2Jgone\u{fffd}");
        check(Some("/w=="), "base64", "base64:/w==");
        check(None, "text", "-");
    }
}
